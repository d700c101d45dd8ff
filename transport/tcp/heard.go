package tcp

import (
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A hearing is what passes between who writes to a connection and who reads from it
// about our frames, without the sender's lock: every frame that arrives says something,
// and mostly nobody is waiting to hear it.
type hearing struct {
	made  atomic.Uint64 // the last frame, and credit spent; stored with sender.mu held
	heard atomic.Uint64 // the last frame that was served, and credit given back; by who reads
	heeds atomic.Bool   // what is heard may let something end, or leave
}

func join(seq, credit uint32) uint64 { return uint64(seq)<<32 | uint64(credit) }

// acked is the last frame of ours that the peer has served.
func (s *hearing) acked() uint32 { return uint32(s.heard.Load() >> 32) }

// granted is how much credit it has given back so far.
func (s *hearing) granted() uint32 { return uint32(s.heard.Load()) }

// heed has who reads tell the sender what is heard. It comes before the look at what
// was heard already; atomics are sequentially consistent, so one of the two sees the
// other.
func (s *hearing) heed() {
	if !s.heeds.Load() {
		s.heeds.Store(true)
	}
}

// hear checks and takes in what a frame says about ours.
func (p *peer) hear(h *wire.Header) error {
	s := &p.tx
	now, last := join(h.Ack, h.Taken), s.heard.Load()
	if now == last {
		return nil
	}
	acked, granted := uint32(last>>32), uint32(last)
	if wire.Before(h.Ack, acked) || wire.Before(h.Taken, granted) {
		return fmt.Errorf("a %v acknowledges %d frames after %d, and %d bytes of messages after %d", h.Kind, h.Ack, acked, h.Taken, granted)
	}
	made := s.made.Load()
	if seq, spent := uint32(made>>32), uint32(made); wire.Before(seq, h.Ack) || wire.Before(spent, h.Taken) {
		return fmt.Errorf("a %v acknowledges %d frames and %d bytes of messages, of %d and %d", h.Kind, h.Ack, h.Taken, seq, spent)
	}
	s.heard.Store(now)
	if h.Taken != granted {
		p.e.wakeBlocked()
	}
	if s.heeds.Load() {
		p.rx.poke = true
	}
	return nil
}
