package messages

import (
	"context"
	"errors"

	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

// push is a sender's step: it Puts the parts that the receiver asked for.
func (m *Messages) push(ctx context.Context, r *Request) {
	for {
		m.mu.Lock()
		if r.verdict != rendezvous.Pending {
			o := r.verdict
			m.mu.Unlock()
			m.settle(r, o)
			return
		}
		if len(r.clears) == 0 {
			m.mu.Unlock()
			return
		}
		p := r.clears[0]
		r.clears = r.clears[:copy(r.clears, r.clears[1:])]
		m.mu.Unlock()
		err := m.put(ctx, r, &p)
		if err != nil || p.Last {
			m.endSend(r, err)
			return
		}
	}
}

// put Puts one part and says so, behind it.
func (m *Messages) put(ctx context.Context, r *Request, p *rendezvous.ClearPacket) error {
	if r.givenUp != nil {
		m.answer(r.world, rendezvous.DonePacket{ID: p.Receiver, Outcome: rendezvous.Withdrawn}.Append(nil))
		return r.givenUp
	}
	part, done := r.data[p.From:p.From+p.Place.Len], rendezvous.DonePacket{ID: p.Receiver, Outcome: rendezvous.Complete}
	if len(part) == 0 {
		return m.tell(ctx, r.world, done.Append)
	}
	f := m.frames.take()
	defer m.frames.give(f)
	err := m.cfg.Router.PutSend(ctx, r.world, transport.Remote(p.Place), part, Port, done.Append(f.bytes[:router.PrefixSize]))
	if err != nil {
		m.answer(r.world, rendezvous.DonePacket{ID: p.Receiver, Outcome: rendezvous.Broken}.Append(nil))
		if errors.Is(err, transport.ErrKey) { // the receiver has closed the region
			err = errAbandoned
		}
	}
	return err
}

// A pullJob is a receive whose message is Put here, in one part or many.
//
// Invariant: parts-done are with the sender; parts is 0 before the first Clear.
type pullJob struct {
	region  transport.Region
	window  []byte // parts come here first; nil: straight into the buffer
	begun   int64  // wanted of the beginning, which is no part
	part    int64  // length of a part
	bytes   int64  // wanted in all
	parts   int    // asked for
	done    int    // come and taken
	closed  bool
	granted bool // a slot for a later message
}

const (
	windowBytes = 512 << 10
	windowParts = 2 // one is filled while the other is emptied
)

// startPull is a receiver's first step.
func (m *Messages) startPull(ctx context.Context, r *Request, a *arrival) {
	if r.givenUp != nil {
		m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: rendezvous.Abandoned}.Append(nil))
		m.received(r, a, rendezvous.Abandoned)
		return
	}
	j := &r.pull
	j.bytes = min(int64(len(r.data)), a.ready.Length)
	j.begun = min(int64(a.bytes), j.bytes)
	if a.whole() {
		m.takeWhole(r, a)
		return
	}
	if err := m.place(r, a); err != nil {
		m.failPull(r, a, err)
		return
	}
	if m.ask(ctx, r, a) {
		m.takeBeginning(r, a)
		m.grant(r, a)
	}
}

// failPull ends a receive that nothing was asked for.
func (m *Messages) failPull(r *Request, a *arrival, err error) {
	r.givenUp = err
	m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: rendezvous.Abandoned}.Append(nil))
	m.endPull(r)
	m.received(r, a, rendezvous.Abandoned)
}

// place finds memory that the sender can Put to: the buffer itself, or a window of
// the arena if that is all the sender can reach.
func (m *Messages) place(r *Request, a *arrival) (err error) {
	j := &r.pull
	j.part = j.bytes - j.begun
	target := r.data[j.begun:j.bytes]
	if m.cfg.Local(a.from) || m.cfg.Memory.Bounces(a.from, target) {
		j.part = min(windowBytes, j.part)
		if j.window, err = m.cfg.Memory.Alloc(int(windowParts * j.part)); err != nil {
			return err
		}
		target = j.window
	}
	if len(target) > 0 {
		j.region, err = m.cfg.Memory.Register(a.from, target)
	}
	return err
}

// ask sends the Clears that there is room for. false: r is over.
func (m *Messages) ask(ctx context.Context, r *Request, a *arrival) bool {
	j := &r.pull
	for from := j.from(j.parts); j.parts-j.done < windowParts && (from < j.bytes || j.parts == 0); from += j.part {
		p := rendezvous.ClearPacket{ID: a.ready.ID, Receiver: r.idNow(), From: from, Last: from+j.part >= j.bytes}
		p.Place.Len = min(j.part, j.bytes-from)
		if j.region != nil {
			place := j.region.Remote()
			if j.window != nil {
				place.Offset += int64(j.parts%windowParts) * j.part
			}
			p.Place.Key, p.Place.Offset = place.Key, place.Offset
		}
		j.parts++
		if err := m.tell(ctx, a.from, p.Append); err != nil {
			m.endPull(r)
			r.givenUp = err
			m.received(r, a, rendezvous.Abandoned)
			return false
		}
	}
	return true
}

// from is where a part begins in the message.
func (j *pullJob) from(part int) int64 { return j.begun + int64(part)*j.part }

// stepPull takes the parts that have come.
func (m *Messages) stepPull(ctx context.Context, r *Request, a *arrival) {
	j := &r.pull
	m.takeBeginning(r, a)
	m.mu.Lock()
	answers, verdict := r.answers, r.verdict
	r.answers = 0
	m.mu.Unlock()
	for ; answers > 0 && j.done < j.parts; answers-- {
		from := j.from(j.done)
		if j.window != nil && verdict == rendezvous.Pending {
			slot := int64(j.done%windowParts) * j.part
			copy(r.data[from:j.bytes], j.window[slot:slot+min(j.part, j.bytes-from)])
		}
		j.done++
	}
	switch {
	case verdict == rendezvous.Withdrawn && j.done == 1: // the first answer: nothing was Put
		m.endPull(r)
		m.rematch(r, a)
	case verdict != rendezvous.Pending: // the sender Puts nothing more
		m.endPull(r)
		m.received(r, a, verdict)
	case j.done < j.parts && j.closed: // the others are on their way
	case j.done == 0: // only the beginning has come
	case j.closed || a.begun != nil: // what came may not be in the buffer
		m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: rendezvous.Abandoned}.Append(nil))
		m.endPull(r)
		m.received(r, a, rendezvous.Abandoned)
	case j.from(j.done) >= j.bytes:
		m.endPull(r)
		m.received(r, a, rendezvous.Complete)
	default:
		m.ask(ctx, r, a)
	}
}

// stopPull lets no further part come. Those under way are waited for, because they
// go into the buffer: the sender's transport answers, or it fails. Parts that come
// to a window concern nobody any more.
func (m *Messages) stopPull(r *Request) {
	j := &r.pull
	if j.parts == 0 { // not begun
		r.todo.Store(true)
		return
	}
	if j.window != nil {
		m.leaveBeginning(r.incoming)
		m.mu.Lock()
		m.disown(r)
		r.end(Status{}, r.givenUp)
		m.mu.Unlock()
		return
	}
	if !j.closed && j.region != nil {
		j.region.Close()
	}
	j.closed = true
}

// disown leaves r's window to a request of its own that waits for the answers to
// come: until then the sender may write there. Called with mu held.
func (m *Messages) disown(r *Request) {
	left := &Request{box: r.box, peer: r.peer, world: r.world, from: r.from, attended: true, orphan: true}
	left.pull, left.incoming, left.answers = r.pull, r.incoming, r.answers
	r.pull, r.incoming = pullJob{}, nil
	m.requests.hand(r, left)
	m.bury(left)
}

// bury frees an orphan's window when the last part has been answered, or none will
// be. Called with mu held.
func (m *Messages) bury(left *Request) {
	if left.answers < left.pull.parts-left.pull.done && left.verdict == rendezvous.Pending {
		return
	}
	a := left.incoming
	m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: rendezvous.Abandoned}.Append(nil))
	m.endPull(left)
	m.requests.remove(left)
	m.copies.give(a)
}

func (m *Messages) endPull(r *Request) {
	j := &r.pull
	if j.region != nil && !j.closed {
		j.region.Close()
	}
	if j.window != nil {
		m.cfg.Memory.Free(j.window)
	}
	*j = pullJob{}
}
