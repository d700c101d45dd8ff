package schedule

import (
	"errors"
	"fmt"
)

// What Check finds, for errors.Is. Each error says rank, step and values.
var (
	// ErrStep: a step is malformed: no elements, an unknown kind, buffer or peer, a
	// write to In, or operands that overlap the result without coinciding.
	ErrStep = errors.New("malformed step")
	// ErrRange: a step reaches outside a buffer.
	ErrRange = errors.New("outside the buffer")
	// ErrDependency: a step is to wait for itself, for a later one, or for one there is not.
	ErrDependency = errors.New("dependency on no earlier step")
	// ErrUnmatched: a send has no receive of its length, or a receive no send.
	ErrUnmatched = errors.New("sends and receives do not match")
	// ErrCycle: steps wait for each other in a circle.
	ErrCycle = errors.New("steps wait for each other")
	// ErrConflict: a step writes what another, not ordered with it, reads or writes.
	ErrConflict = errors.New("unordered steps touch the same elements")
)

// Check proves that a set of schedules, one for each rank, can be carried out as
// the package documentation says: every step is well-formed and within its
// buffers, every send meets a receive of its length, no ranks wait for each other
// in a circle even if no pipe buffers anything, and no step disturbs another's
// elements, also when In and Out are the same memory. It does not know what
// result is meant.
//
// Time: the square of a rank's number of steps.
func Check(all []Schedule) error {
	for rank, s := range all {
		if s.Rank != rank || s.Size != len(all) {
			return fmt.Errorf("schedule of rank %d of %d stands at place %d of %d: %w", s.Rank, s.Size, rank, len(all), ErrUnmatched)
		}
		if err := s.checkSteps(); err != nil {
			return err
		}
	}
	if err := checkWaiting(all); err != nil {
		return err
	}
	for _, s := range all {
		if err := s.checkConflicts(); err != nil {
			return err
		}
	}
	return nil
}

// fault is an error about one step.
func (s Schedule) fault(i int, kind error, format string, args ...any) error {
	return fmt.Errorf("rank %d: step %d (%v): %s: %w", s.Rank, i, s.Steps[i], fmt.Sprintf(format, args...), kind)
}

func (s Schedule) checkSteps() error {
	if s.InAt != NoAlias && (s.InAt < 0 || s.InAt+s.In > s.Out) {
		return fmt.Errorf("rank %d: in[0:%d] at %d of out[0:%d]: %w", s.Rank, s.In, s.InAt, s.Out, ErrRange)
	}
	for i, step := range s.Steps {
		if err := s.checkStep(i, step); err != nil {
			return err
		}
	}
	return nil
}

func (s Schedule) checkStep(i int, step Step) error {
	switch {
	case step.Kind > Reduce:
		return s.fault(i, ErrStep, "no such kind")
	case step.Len <= 0:
		return s.fault(i, ErrStep, "%d elements", step.Len)
	case step.Left && step.Kind != RecvReduce:
		return s.fault(i, ErrStep, "it receives no operand")
	}
	if step.Kind <= RecvReduce && (step.Peer < 0 || step.Peer >= s.Size || step.Peer == s.Rank) {
		return s.fault(i, ErrStep, "peer %d of %d ranks", step.Peer, s.Size)
	}
	for _, d := range step.After {
		if d < 0 || d >= i {
			return s.fault(i, ErrDependency, "after %d", d)
		}
	}
	return s.checkRefs(i, step)
}

func (s Schedule) checkRefs(i int, step Step) error {
	for _, r := range step.reads() {
		if err := s.checkRef(i, r, step.Len); err != nil {
			return err
		}
		if step.writes() && s.overlap(r, step.Into, step.Len) != 0 && s.home(r) != s.home(step.Into) {
			return s.fault(i, ErrStep, "the result overlaps an operand")
		}
	}
	if !step.writes() {
		return nil
	}
	if step.Into.Buffer == In {
		return s.fault(i, ErrStep, "in is the caller's")
	}
	return s.checkRef(i, step.Into, step.Len)
}

func (s Schedule) checkRef(i int, r Ref, n int) error {
	if r.Buffer > Temp {
		return s.fault(i, ErrStep, "no such buffer")
	}
	size := [...]int{s.In, s.Out, s.Temp}[r.Buffer]
	if r.Off < 0 || r.Off > size-n {
		return s.fault(i, ErrRange, "%v has %d elements", r.Buffer, size)
	}
	return nil
}

// home is the place once In lies in Out, if it may.
func (s Schedule) home(r Ref) Ref {
	if r.Buffer == In && s.InAt != NoAlias {
		return Ref{Out, s.InAt + r.Off}
	}
	return r
}

// overlap is the number of elements that n at a and n at b have in common.
func (s Schedule) overlap(a, b Ref, n int) int {
	a, b = s.home(a), s.home(b)
	if a.Buffer != b.Buffer {
		return 0
	}
	return max(0, n-max(a.Off-b.Off, b.Off-a.Off))
}
