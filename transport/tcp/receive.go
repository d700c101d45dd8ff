package tcp

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

const (
	// scratchBytes is what one read takes at once, headers and short payloads.
	scratchBytes = 64 << 10
	// directBytes is from how much of a payload it is read straight to its place.
	directBytes = 4 << 10
	// leastBytes is what a read takes unless the last one found that much or more of
	// short frames: little of a long payload is copied then, and a Message of any length
	// takes one read.
	leastBytes = 5 << 10
	// While payloads are long, no more than this is read with the next header.
	streamBytes = 1 << 10
	// readsAtOnce bounds how long one connection is read while others wait.
	readsAtOnce = 8
)

var (
	errGone    = fmt.Errorf("the connection ended without a goodbye: %w", transport.ErrPeerFailed)
	errGoodbye = fmt.Errorf("it has closed its endpoint: %w", transport.ErrClosed)
)

// read takes in what has arrived. Called with rx.mu held.
func (p *peer) read(scratch []byte) {
	for range readsAtOnce {
		if p.fd < 0 {
			return
		}
		place, rest := p.aim(scratch)
		n, errno := receive(p.fd, place, rest)
		if !p.took(place, rest, n, errno) {
			break
		}
	}
	if p.rx.poke {
		p.afterRead()
	}
}

// endBy fails with an error of reading or of what was read.
func (p *peer) endBy(err error) {
	if !errors.Is(err, transport.ErrClosed) && !errors.Is(err, transport.ErrPeerFailed) {
		err = failed("what it sent", err)
	}
	p.fail(err)
}

// aim tells where the next read goes: the rest of a long payload straight to its
// place, nil if there is none, and what follows it, or everything, to scratch.
func (p *peer) aim(scratch []byte) (place, rest []byte) {
	if place = p.rx.reader.Place(); len(place) < directBytes {
		place = nil
	}
	switch {
	case p.rx.streaming:
		scratch = scratch[:streamBytes]
	case !p.rx.flood || p.rx.hands != nil: // what is handed out stays where it is read to
		scratch = scratch[:leastBytes]
	}
	return place, scratch
}

func receive(fd int, place, rest []byte) (int, unix.Errno) {
	if place == nil {
		n, errno := recv(fd, rest)
		return int(n), errno
	}
	return recv2(fd, place, rest)
}

// took takes in what a read has brought, and tells whether to read more now.
func (p *peer) took(place, rest []byte, n int, errno unix.Errno) (more bool) {
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return false
	case errno != 0:
		p.endBy(failed("reading", errno))
		return false
	case n == 0:
		p.endBy(errGone)
		return false
	}
	ordered()
	r := &p.rx
	relax.Store(&r.bytes, r.bytes.Load()+uint64(n))
	k := min(n, len(place))
	r.flood = n-k >= leastBytes && !r.streaming
	var err error
	if k > 0 {
		err = r.reader.Filled(k, p)
	}
	if err == nil {
		err = r.reader.Feed(rest[:n-k], p)
	}
	if err != nil {
		p.endBy(err)
		return false
	}
	return n == len(place)+len(rest) && !r.handed
}

// afterRead lets the sender say what the frames just read call for, once for all
// of them.
func (p *peer) afterRead() {
	s := &p.tx
	p.rx.poke = false
	s.mu.Lock()
	s.wanted = p.rx.wanted
	s.settle(p)
	p.pump()
	s.heeds.Store(s.promises.count > 0 || s.waiting() > 0)
	s.mu.Unlock()
}

// Begin is the wire.Sink: a frame begins. The numbers that every frame has are
// taken in first.
func (p *peer) Begin(h *wire.Header) ([]byte, error) {
	r := &p.rx
	if err := p.hear(h); err != nil {
		return nil, err
	}
	r.refusal, r.streaming = 0, h.Length > 4*directBytes
	switch h.Kind {
	case wire.Put:
		if h.Key&landingKey != 0 {
			return p.beginLanding(h)
		}
		mem, err := p.e.regions.find(h.Key, h.Offset, int(h.Length))
		if err != nil {
			r.refusal = reasonOf(err)
		}
		return mem, nil
	case wire.CompareSwap:
		return r.operand[:], nil
	case wire.Message:
		return p.beginMessage(h)
	case wire.Data:
		return p.beginData(h)
	case wire.Welcome, wire.Decline:
		return nil, fmt.Errorf("a %v in the midst of a connection", h.Kind)
	}
	return nil, nil
}

func (p *peer) beginLanding(h *wire.Header) ([]byte, error) {
	l := p.e.regions.landing(p, h.Key)
	if l == nil {
		p.rx.refusal = wire.UnknownKey
		return nil, nil
	}
	return l.begin(h)
}

func (p *peer) beginMessage(h *wire.Header) ([]byte, error) {
	in := &p.in
	in.used += uint32(wire.MessageCost(int(h.Length)))
	if used := in.used - uint32(in.taken.Load()); used > wire.CreditBytes {
		return nil, fmt.Errorf("%d bytes of messages that were not taken, more than %d", used, wire.CreditBytes)
	}
	p.e.arrivals.mu.Lock()
	defer p.e.arrivals.mu.Unlock()
	return in.reserve(int(h.Length)), nil
}

// beginData returns where the answer to a Get goes. Nobody else touches it until
// the operation has ended, and ending needs rx.mu.
func (p *peer) beginData(h *wire.Header) ([]byte, error) {
	p.tx.mu.Lock()
	defer p.tx.mu.Unlock()
	p.tx.settle(p)
	g, err := p.tx.answer(h, getSlot)
	if err != nil {
		return nil, err
	}
	return g.dst[g.got : g.got+int(h.Length)], nil
}

// End is the wire.Sink: a frame has come whole.
func (p *peer) End(h *wire.Header) error {
	err := p.serve(h)
	p.served(h)
	return err
}

// served notes that a frame has been dealt with.
func (p *peer) served(h *wire.Header) {
	r := &p.rx
	if h.Flags&wire.WantAck != 0 {
		r.wanted, r.poke = h.Seq, true
	}
	relax.Store(&r.served, uint64(h.Seq))
}

func (p *peer) serve(h *wire.Header) error {
	switch h.Kind {
	case wire.Put:
		if p.rx.refusal != 0 {
			return p.owe(h, reply{kind: wire.Refusal, value: uint64(p.rx.refusal)})
		}
	case wire.Get:
		return p.owe(h, reply{kind: wire.Data, n: uint32(h.Value)})
	case wire.FetchAdd, wire.CompareSwap:
		return p.owe(h, p.atomic(h))
	case wire.Message:
		p.endMessage(h)
	case wire.Data, wire.Value, wire.Refusal:
		return p.answered(h)
	case wire.Goodbye:
		return errGoodbye
	}
	return nil
}

func (p *peer) endMessage(h *wire.Header) {
	a := &p.e.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	p.in.commit(int(h.Length))
	a.announce(p)
}

// owe queues an answer. A Put that is refused piece after piece is refused once.
func (p *peer) owe(h *wire.Header, r reply) error {
	s := &p.tx
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.replies.back()
	if h.Kind == wire.Put && last != nil && last.kind == wire.Refusal && last.token == h.Token {
		return nil
	}
	if s.replies.count >= maxReplies {
		return fmt.Errorf("more than %d requests whose answers it does not take", maxReplies)
	}
	r.seq, r.token, r.key, r.offset = h.Seq, h.Token, h.Key, h.Offset
	s.replies.push(r)
	p.rx.poke = true
	return nil
}

// answered ends what the frame answers.
func (p *peer) answered(h *wire.Header) error {
	s := &p.tx
	s.mu.Lock()
	defer s.mu.Unlock()
	p.rx.poke = true
	s.settle(p)
	if h.Kind == wire.Refusal {
		return s.requests.refused(p, h)
	}
	kind := getSlot
	if h.Kind == wire.Value {
		kind = atomicSlot
	}
	a, err := s.answer(h, kind)
	if err != nil {
		return err
	}
	if a.old != nil {
		*a.old = h.Value
	}
	s.requests.answered(p)
	return nil
}
