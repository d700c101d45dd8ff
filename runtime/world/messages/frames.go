package messages

import "sync/atomic"

// frames keeps one frame at hand, for the goroutine that sends alone, and a few
// for the others.
type frames struct {
	one   atomic.Pointer[frame]
	spare chan *frame
}

const spareFrames = 8

func (s *frames) init() {
	s.one.Store(new(frame))
	s.spare = make(chan *frame, spareFrames)
}

func (s *frames) take() *frame {
	if f := s.one.Swap(nil); f != nil {
		return f
	}
	select {
	case f := <-s.spare:
		return f
	default:
		return new(frame)
	}
}

func (s *frames) give(f *frame) {
	if s.one.CompareAndSwap(nil, f) {
		return
	}
	select {
	case s.spare <- f:
	default:
	}
}
