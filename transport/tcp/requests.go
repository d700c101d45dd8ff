package tcp

import (
	"fmt"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

const (
	// maxSlots bounds the operations in flight to one peer: as many as an endpoint
	// has completions for, and some without.
	maxSlots = outstanding + 256
	// maxAnswers bounds the answers one peer may owe: the memory that the other end
	// needs for them.
	maxAnswers = 1024
	// piecesAhead is how many pieces of one long Get are asked for at once.
	piecesAhead = 4
)

type slotKind uint8

const (
	putSlot slotKind = iota
	getSlot
	atomicSlot
	flushSlot
)

// A slot is one operation in flight. Its index is the token of its frames.
type slot struct {
	kind slotKind
	op   transport.OpID
	conn *conn
	err  error // of a part of it
	next int32 // in the list of free ones
	used bool

	old *uint64 // of an atomic
	// Of a Get: where it goes, how much was asked for and has come.
	dst        []byte
	src        transport.Remote
	asked, got int
	// Of a Put: nobody wants to hear of it any more.
	silent bool
	large  *largePut // waits for the end, nil if none does
}

// A promise is what a frame already sent will bring: an Ack past seq for a Put and
// a Flush, an answer for the others. Promises are kept in order.
type promise struct {
	seq  uint32
	slot int32
	n    uint32 // bytes of an answer with payload
}

// requests is what was asked of a peer. Guarded by sender.mu.
type requests struct {
	slots    []slot
	free     int32 // first free slot plus one; 0: none
	inUse    int
	promises ring[promise]
	answers  int // promises that are answers
	// gets holds long Gets that have pieces to ask for, and the Flushes that came
	// behind them.
	gets ring[int32]
}

// take returns an unused slot, or -1 if there are too many.
func (r *requests) take(s slot) int32 {
	s.used = true
	if r.free > 0 {
		i := r.free - 1
		r.free = r.slots[i].next
		r.slots[i] = s
		r.inUse++
		return i
	}
	if len(r.slots) >= maxSlots {
		return -1
	}
	r.slots = append(r.slots, s)
	r.inUse++
	return int32(len(r.slots) - 1)
}

func (r *requests) full() bool { return r.free == 0 && len(r.slots) >= maxSlots }

func (r *requests) release(i int32) {
	r.slots[i] = slot{next: r.free}
	r.free = i + 1
	r.inUse--
}

// promise notes what frame seq will bring.
func (s *sender) promise(seq uint32, i int32, n int) {
	if s.slots[i].kind.answered() {
		s.answers++
	}
	s.promises.push(promise{seq, i, uint32(n)})
	s.heed()
}

func (k slotKind) answered() bool { return k == getSlot || k == atomicSlot }

// settle ends the Puts and Flushes that are next and that the peer has served.
func (s *sender) settle(p *peer) {
	acked := s.acked()
	for {
		next := s.promises.front()
		if next == nil || s.slots[next.slot].kind.answered() || wire.Before(acked, next.seq) {
			return
		}
		i := s.promises.pop().slot
		s.finish(p, i)
	}
}

// answer returns the slot that an answer of n bytes with a token belongs to.
func (r *requests) answer(h *wire.Header, kind slotKind) (*slot, error) {
	next := r.promises.front()
	if next == nil || !r.slots[next.slot].kind.answered() || next.slot != int32(h.Token) {
		return nil, fmt.Errorf("unexpected %v for token %d", h.Kind, h.Token)
	}
	s := &r.slots[next.slot]
	if h.Kind != wire.Refusal && (s.kind != kind || h.Length != next.n) {
		return nil, fmt.Errorf("a %v of %d bytes answers token %d, which asked for %d", h.Kind, h.Length, h.Token, next.n)
	}
	return s, nil
}

// answered ends the promise that answer has returned.
func (r *requests) answered(p *peer) {
	next := r.promises.pop()
	r.answers--
	s := &r.slots[next.slot]
	s.got += int(next.n)
	if s.kind == atomicSlot || s.got == len(s.dst) {
		r.finish(p, next.slot)
	}
}

// finish reports an operation that is over, and frees its slot.
func (r *requests) finish(p *peer, i int32) {
	s := &r.slots[i]
	if s.kind == flushSlot && s.err == nil {
		s.err = s.conn.takeLate()
	}
	if s.large != nil {
		s.large.left, s.large.done = s.err == nil, true
	}
	switch {
	case s.silent:
	case s.op != 0:
		p.e.arrivals.complete(transport.Completion{Op: s.op, Rank: p.rank, Err: s.err})
	case s.err != nil:
		s.conn.setLate(s.err)
	}
	r.release(i)
	p.changed()
}

// fail ends everything with err.
func (r *requests) fail(p *peer, err error) {
	for i := range r.slots {
		if s := &r.slots[i]; s.used {
			s.err = err
			r.finish(p, int32(i))
		}
	}
	r.promises, r.gets, r.answers = ring[promise]{}, ring[int32]{}, 0
}

// refused deals with a Refusal: of an answer that will not come, or of a Put.
func (r *requests) refused(p *peer, h *wire.Header) error {
	err := p.refusal(h)
	if h.Token&connToken != 0 {
		p.tx.late(h.Token&^connToken, err)
		return nil
	}
	if int(h.Token) >= len(r.slots) || !r.slots[h.Token].used {
		return fmt.Errorf("a Refusal for token %d, which is nobody's", h.Token)
	}
	if s := &r.slots[h.Token]; s.kind == putSlot {
		s.err = err
		return nil
	}
	s, wrong := r.answer(h, 0)
	if wrong != nil {
		return wrong
	}
	s.err = err
	r.answered(p)
	return nil
}

// refusal says what was refused and why.
func (p *peer) refusal(h *wire.Header) error {
	reasons := map[uint64]error{wire.OutOfRange: transport.ErrRange, wire.UnknownKey: transport.ErrKey, wire.Misaligned: transport.ErrAlign}
	why, known := reasons[h.Value]
	if !known {
		why = fmt.Errorf("reason %d", h.Value)
	}
	return fmt.Errorf("tcp: rank %d: operation at offset %d of region %#x was refused: %w", p.rank, h.Offset, h.Key, why)
}
