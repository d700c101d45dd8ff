package scale

// A pool is processors that servers share; nil: each server has one of its own.
type pool struct{ free []Instant }

func newPool(cores int) *pool { return &pool{make([]Instant, cores)} }

// take gives work that may begin at a time to the processor that is free first.
func (p *pool) take(at, cost Instant) (end Instant) {
	best := 0
	for i, free := range p.free {
		if free < p.free[best] {
			best = i
		}
	}
	end = max(at, p.free[best]) + cost
	p.free[best] = end
	return end
}

// A server does one piece of work after the other: a process whose mutex all its work
// holds, or a single goroutine.
type server struct {
	free Instant // when it has done what it was given
	used Instant // CPU time
}

// do gives it work at a time, and returns when that is done.
func (s *server) do(at, cost Instant, shared *pool) Instant {
	s.used += cost
	at = max(at, s.free)
	if shared == nil {
		s.free = at + cost
	} else {
		s.free = shared.take(at, cost)
	}
	return s.free
}

// idle reports whether it waits for work at a time.
func (s *server) idle(at Instant) bool { return s.free <= at }
