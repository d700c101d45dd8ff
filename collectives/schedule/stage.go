package schedule

// A stage is a collective among some of the ranks that is a part of a larger one.
type stage struct {
	build   func(Plan, int) Schedule
	plan    Plan  // for the stage's ranks, numbered from 0
	members []int // their ranks in the larger one
	me      int   // this rank's number among them
	in, out Ref   // where the stage's In and Out lie
}

// append adds a stage's steps. A step waits for those steps of earlier stages that
// store what it reads, or use what it overwrites; so stages that work chunk by chunk
// overlap.
func (b *builder) append(s stage) {
	sub := s.build(s.plan, s.me)
	place := [...]Ref{In: s.in, Out: s.out, Temp: b.temp(sub.Temp)}
	first := len(b.Steps)
	for _, step := range sub.Steps {
		moved := step
		moved.Peer = s.members[step.Peer]
		moved.From = place[step.From.Buffer].plus(step.From.Off)
		moved.With = place[step.With.Buffer].plus(step.With.Off)
		moved.Into = place[step.Into.Buffer].plus(step.Into.Off)
		var after []int
		for _, d := range step.After {
			after = append(after, first+d)
		}
		for d := range first {
			if b.mustPrecede(b.Steps[d], moved) {
				after = append(after, d)
			}
		}
		b.add(moved, after)
	}
}

// mustPrecede tells whether exchanging two steps would change what either reads or
// what is left in a buffer.
func (b *builder) mustPrecede(earlier, later Step) bool {
	if earlier.writes() && b.touches(later, earlier.Into, earlier.Len) {
		return true
	}
	return later.writes() && b.touches(earlier, later.Into, later.Len)
}

// touches tells whether a step reads or writes any of n elements at a place.
func (b *builder) touches(s Step, at Ref, n int) bool {
	if s.writes() && b.overlap(s.Into, s.Len, at, n) {
		return true
	}
	for _, r := range s.reads() {
		if b.overlap(r, s.Len, at, n) {
			return true
		}
	}
	return false
}

func (b *builder) overlap(x Ref, nx int, y Ref, ny int) bool {
	x, y = b.real(x), b.real(y)
	return x.Buffer == y.Buffer && x.Off < y.Off+ny && y.Off < x.Off+nx
}

// real is where a place is when the caller passes one memory for In and Out.
func (b *builder) real(r Ref) Ref {
	if r.Buffer == In && b.InAt != NoAlias {
		return Ref{Out, b.InAt + r.Off}
	}
	return r
}
