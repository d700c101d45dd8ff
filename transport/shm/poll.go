package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
)

// A receiver is what Poll alone touches.
type receiver struct {
	inboxes  []inbox // rings in use; never more than ranks
	admitted []bool  // by rank: its ring is, or was, among inboxes
	seen     uint64  // announcements when entries were last looked through
	turn     int     // where the next Poll begins: 0 completions, i the ring i-1
	after    int     // the ring where Watch begins; Invariant: 0 <= after
	lent     bool    // the last Poll delivered a message
}

// An inbox is the receiving side of one ring.
type inbox struct {
	consumer
	rank int
	want *atomic.Uint64
	err  error // the ring could not be mapped
}

func makeReceiver(ranks int) receiver {
	return receiver{inboxes: make([]inbox, 0, ranks), admitted: make([]bool, ranks)}
}

// Poll gives back the messages of the Poll before, looks for new rings, and then
// goes once round the completions and the rings. It begins where the last Poll
// stopped, so that none of them waits for the others to be empty.
func (e *endpoint) Poll(done []transport.Completion) (int, error) {
	if !e.gate.enter() {
		return 0, fmt.Errorf("shm: rank %d: Poll: %w", e.cfg.Rank, transport.ErrClosed)
	}
	n := e.poll(done)
	e.gate.leave()
	return n, nil
}

// Idle reports whether there is nothing for Poll to do. It is for who calls Poll, and
// like Watch it must not run when Close begins.
func (e *endpoint) Idle() bool {
	if e.in.lent || e.control.announced() != e.in.seen || e.local.queued.Load() != 0 {
		return false
	}
	for i := range e.in.inboxes {
		if !e.in.inboxes[i].idle() {
			return false
		}
	}
	return true
}

// Watch looks so many times for a message, and returns the first one and the rank
// that sent it; like those of Poll it is valid until the next Poll or Watch. A nil
// message: there is none, or something else has come, for Poll. It is Poll to those
// who call it one at a time, but it must not run when Close begins, nor later: so it
// need not pass the gate. A look that finds nothing costs a load for each ring and
// two more.
func (e *endpoint) Watch(looks int) (rank int, msg []byte) {
	if e.in.lent {
		e.giveBack()
	}
	for ; looks > 0 && msg == nil; looks-- {
		if e.control.announced() != e.in.seen || e.local.queued.Load() != 0 {
			break
		}
		if rank, msg = e.first(); msg == nil {
			relax.CPU()
		}
	}
	return rank, msg
}

// first takes a message, if there is one and its ring is well. It begins behind the
// ring of the last one.
func (e *endpoint) first() (rank int, msg []byte) {
	for range e.in.inboxes {
		if e.in.after >= len(e.in.inboxes) {
			e.in.after = 0
		}
		in := &e.in.inboxes[e.in.after]
		e.in.after++
		if in.idle() || in.err != nil { // Poll tells of the error
			continue
		}
		if msg, ok, _ := in.take(); ok {
			ordered()
			e.in.lent = true
			return in.rank, msg
		}
	}
	return 0, nil
}

func (e *endpoint) poll(done []transport.Completion) int {
	if e.in.lent {
		e.giveBack()
	}
	if announced := e.control.announced(); announced != e.in.seen {
		e.admit(announced)
	}
	n := 0
	for range 1 + len(e.in.inboxes) {
		if n == len(done) {
			break
		}
		if i := e.in.next(); i < 0 {
			n += e.report(done[n:])
		} else if !e.in.inboxes[i].idle() {
			n += e.receive(i, done[n:])
		}
	}
	return n
}

// next returns whose turn it is: an inbox, or -1 for the completions.
func (r *receiver) next() int {
	at := r.turn
	if at > len(r.inboxes) {
		at = 0
	}
	r.turn = at + 1
	return at - 1
}

// report fills done with completions of this rank's own operations.
func (e *endpoint) report(done []transport.Completion) int {
	n := e.local.take(done)
	if n > 0 {
		e.ringWaiting()
	}
	return n
}

// ringWaiting wakes the calls that wait for a place among the completions.
func (e *endpoint) ringWaiting() {
	if e.local.waiting.Load() > 0 {
		e.cfg.Ring(e.cfg.Rank)
	}
}

// receive fills done with messages of one ring. A corrupt ring is reported and
// not looked at again.
func (e *endpoint) receive(i int, done []transport.Completion) int {
	in := &e.in.inboxes[i]
	for n := range done {
		msg, ok, err := in.message()
		if err != nil {
			done[n] = transport.Completion{Rank: in.rank, Err: err}
			e.drop(i)
			return n + 1
		}
		if !ok {
			return n
		}
		done[n] = transport.Completion{Rank: in.rank, Message: msg}
		e.in.lent = true
	}
	return len(done)
}

// idle tells whether there is nothing to receive, as far as one load can tell.
func (in *inbox) idle() bool { return in.err == nil && in.empty() }

func (in *inbox) message() ([]byte, bool, error) {
	if in.err != nil {
		return nil, false, in.err
	}
	msg, ok, err := in.take()
	if err != nil {
		return nil, false, fmt.Errorf("shm: rank %d: receive: %w", in.rank, err)
	}
	if ok {
		ordered()
	}
	return msg, ok, nil
}

// drop puts the last ring in the place of ring i, and has it looked at next.
func (e *endpoint) drop(i int) {
	e.in.turn = i + 1
	last := len(e.in.inboxes) - 1
	e.in.inboxes[i] = e.in.inboxes[last]
	e.in.inboxes = e.in.inboxes[:last]
}

// giveBack releases what the last Poll handed out, and wakes senders that wait
// for it.
func (e *endpoint) giveBack() {
	e.in.lent = false
	for i := range e.in.inboxes {
		in := &e.in.inboxes[i]
		if in.err == nil && in.release() && in.want.Load() != 0 {
			in.want.Store(0)
			e.cfg.Ring(in.rank)
		}
	}
}

// admit takes in the rings announced since the last call. The counter was read
// before the entries: an announcement missed now changes it again.
func (e *endpoint) admit(announced uint64) {
	e.in.seen = announced
	for rank := range e.cfg.Size {
		if place, ok := e.control.ring(rank); ok && !e.in.admitted[rank] {
			e.in.admitted[rank] = true
			e.in.inboxes = append(e.in.inboxes, e.openInbox(rank, place))
		}
	}
}

func (e *endpoint) openInbox(rank int, place transport.Remote) inbox {
	in, err := e.mapInbox(rank, place)
	if err != nil {
		in.err = fmt.Errorf("shm: rank %d: message ring: %w", rank, err)
	}
	in.rank = rank
	return in
}

func (e *endpoint) mapInbox(rank int, place transport.Remote) (inbox, error) {
	b, err := reach(&e.cfg, rank, place)
	if err != nil {
		return inbox{}, err
	}
	if err := checkRingSize(len(b)); err != nil {
		return inbox{}, err
	}
	m, err := overlay(b)
	if err != nil {
		return inbox{}, err
	}
	data := memory{bytes: m.bytes[ringDataAt:], words: m.words[ringDataAt/wordBytes:]}
	return inbox{consumer: consumer{data: data, head: &m.words[ringHeadAt/wordBytes]}, want: &m.words[0]}, nil
}
