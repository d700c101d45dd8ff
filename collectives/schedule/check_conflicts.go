package schedule

// checkConflicts looks at every pair of steps that touch common elements, one of
// them writing: the later must come after the earlier by dependencies alone.
// Orders that follow from messages do not count: they may not hold when pipes buffer.
// Where In may be Out's memory, both cases are looked at.
func (s Schedule) checkConflicts() error {
	apart := s
	apart.InAt = NoAlias
	if err := apart.findConflict(); err != nil || s.InAt == NoAlias {
		return err
	}
	return s.findConflict()
}

func (s Schedule) findConflict() error {
	before := s.closure()
	for j, later := range s.Steps {
		for i, earlier := range s.Steps[:j] {
			if !before[j].has(i) && s.conflict(earlier, later) {
				return s.fault(j, ErrConflict, "it is not ordered after step %d (%v)", i, earlier)
			}
		}
	}
	return nil
}

// closure gives, for each step, all steps it comes after.
func (s Schedule) closure() []bitset {
	before := make([]bitset, len(s.Steps))
	for i, step := range s.Steps {
		before[i] = make(bitset, i/64+1)
		for _, d := range step.After {
			before[i].add(d)
			before[i].union(before[d])
		}
	}
	return before
}

func (s Schedule) conflict(a, b Step) bool {
	return s.disturbs(a, b) || s.disturbs(b, a) ||
		s.changes(a) && s.changes(b) && s.common(a.Into, a.Len, b.Into, b.Len)
}

// changes tells whether the step alters memory: all do but a send, and a copy of
// In to where it lies already.
func (s Schedule) changes(step Step) bool {
	return step.writes() && !(step.Kind == Copy && s.home(step.From) == s.home(step.Into))
}

// disturbs tells whether a writes what b reads.
func (s Schedule) disturbs(a, b Step) bool {
	if !s.changes(a) {
		return false
	}
	for _, r := range b.reads() {
		if s.common(a.Into, a.Len, r, b.Len) {
			return true
		}
	}
	return false
}

// common tells whether two ranges share an element.
func (s Schedule) common(a Ref, n int, b Ref, m int) bool {
	a, b = s.home(a), s.home(b)
	return a.Buffer == b.Buffer && a.Off < b.Off+m && b.Off < a.Off+n
}

type bitset []uint64

func (b bitset) add(i int) { b[i/64] |= 1 << (i % 64) }

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) union(c bitset) {
	for i, w := range c {
		b[i] |= w
	}
}
