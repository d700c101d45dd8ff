package schedule

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// The checker is checked: every schedule is damaged in every place in every way
// listed here, and Check must complain.

// clone copies schedules so that they may be altered.
func clone(all []Schedule) []Schedule {
	copies := slices.Clone(all)
	for r := range copies {
		copies[r].Steps = slices.Clone(copies[r].Steps)
		for i := range copies[r].Steps {
			copies[r].Steps[i].After = slices.Clone(copies[r].Steps[i].After)
		}
	}
	return copies
}

// removeStep takes a step out; what waited for it waits for what it waited for.
func removeStep(s *Schedule, gone int) {
	inherited := s.Steps[gone].After
	s.Steps = slices.Delete(s.Steps, gone, gone+1)
	for i := range s.Steps {
		var after []int
		for _, d := range s.Steps[i].After {
			switch {
			case d == gone:
				after = append(after, inherited...)
			case d > gone:
				after = append(after, d-1)
			default:
				after = append(after, d)
			}
		}
		s.Steps[i].After = after
	}
}

// A mutation damages step i and tells whether it could.
type mutation struct {
	name  string
	want  []error
	apply func(s *Schedule, i int) bool
}

// always is a mutation that applies to every step the condition names.
func always(when func(Step) bool, change func(*Schedule, *Step, int)) func(*Schedule, int) bool {
	return func(s *Schedule, i int) bool {
		if !when(s.Steps[i]) {
			return false
		}
		change(s, &s.Steps[i], i)
		return true
	}
}

func anyStep(Step) bool          { return true }
func message(s Step) bool        { return s.Kind <= RecvReduce }
func reads(s Step) bool          { return len(s.reads()) > 0 }
func notReceived(s Step) bool    { return s.Kind != RecvReduce }
func reduces(s Step) bool        { return s.Kind == Reduce }
func overlapping(s Step) bool    { return s.Kind == RecvReduce && s.Len > 1 && s.From == s.Into }
func waitsForOthers(s Step) bool { return len(s.After) > 0 }

var mutations = []mutation{
	{"remove", []error{ErrUnmatched}, always(message, func(s *Schedule, _ *Step, i int) { removeStep(s, i) })},
	{"repeat", []error{ErrUnmatched}, always(message, func(s *Schedule, t *Step, _ int) { s.Steps = append(s.Steps, *t) })},
	{"lengthen", []error{ErrUnmatched, ErrRange, ErrStep}, always(message, func(_ *Schedule, t *Step, _ int) { t.Len++ })},
	{"empty", []error{ErrStep}, always(anyStep, func(_ *Schedule, t *Step, _ int) { t.Len = 0 })},
	{"to nobody", []error{ErrStep}, always(message, func(s *Schedule, t *Step, _ int) { t.Peer = s.Size })},
	{"to itself", []error{ErrStep}, always(message, func(s *Schedule, t *Step, _ int) { t.Peer = s.Rank })},
	{"to a third", []error{ErrUnmatched, ErrStep}, always(message, func(s *Schedule, t *Step, _ int) { t.Peer = (t.Peer + 1) % s.Size })},
	{"unknown kind", []error{ErrStep}, always(anyStep, func(_ *Schedule, t *Step, _ int) { t.Kind = 77 })},
	{"unknown buffer", []error{ErrStep}, always(reads, func(_ *Schedule, t *Step, _ int) { t.From.Buffer = 7 })},
	{"left of nothing", []error{ErrStep}, always(notReceived, func(_ *Schedule, t *Step, _ int) { t.Left = true })},
	{"write to in", []error{ErrStep}, always(Step.writes, func(_ *Schedule, t *Step, _ int) { t.Into.Buffer = In })},
	{"write past the end", []error{ErrRange}, always(Step.writes, func(s *Schedule, t *Step, _ int) { t.Into.Off = s.Out + s.Temp })},
	{"write before the start", []error{ErrRange, ErrStep}, always(Step.writes, func(_ *Schedule, t *Step, _ int) { t.Into.Off = -1 })},
	{"read past the end", []error{ErrRange}, always(reads, func(s *Schedule, t *Step, _ int) { t.From.Off = s.In + s.Out + s.Temp })},
	{"read before the start", []error{ErrRange, ErrStep}, always(reads, func(_ *Schedule, t *Step, _ int) { t.From.Off = -1 })},
	{"operand past the end", []error{ErrRange}, always(reduces, func(s *Schedule, t *Step, _ int) { t.With.Off = s.In + s.Out + s.Temp })},
	{"overlap", []error{ErrStep, ErrRange}, always(overlapping, func(_ *Schedule, t *Step, _ int) { t.From.Off++ })},
	{"wait for itself", []error{ErrDependency}, always(anyStep, func(_ *Schedule, t *Step, i int) { t.After = append(t.After, i) })},
	{"wait for a later one", []error{ErrDependency}, always(anyStep, func(_ *Schedule, t *Step, i int) { t.After = append(t.After, i+1) })},
	{"wait for none there is", []error{ErrDependency}, always(waitsForOthers, func(_ *Schedule, t *Step, _ int) { t.After[0] = -1 })},
	{"write where another does", []error{ErrConflict}, collide},
}

// collide directs a step's result to where an earlier step, with which it is not
// ordered, stores its own.
func collide(s *Schedule, j int) bool {
	before, later := s.closure(), &s.Steps[j]
	if later.Kind != Recv {
		return false
	}
	for i, earlier := range s.Steps[:j] {
		if earlier.Kind == Recv && !before[j].has(i) && earlier.Len >= later.Len {
			later.Into = earlier.Into
			return true
		}
	}
	return false
}

// damage applies a mutation in every place of every schedule of the plan.
func damage(t *testing.T, p Plan, apply func(s *Schedule, i int) bool, judge func(damaged []Schedule, where string)) (applied int) {
	t.Helper()
	all, err := p.All()
	if err != nil {
		t.Fatal(err)
	}
	for rank := range all {
		for i := range all[rank].Steps {
			damaged := clone(all)
			if apply(&damaged[rank], i) {
				applied++
				judge(damaged, fmt.Sprintf("%+v: rank %d: step %d (%v)", p, rank, i, all[rank].Steps[i]))
			}
		}
	}
	return applied
}

func mutationPlans() []Plan {
	var list []Plan
	for _, a := range Algorithms() {
		for _, size := range []int{2, 3, 5, 8} {
			list = append(list, goldenPlan(a, size))
		}
	}
	return list
}

func TestCheckFindsEveryDamage(t *testing.T) {
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			applied := 0
			for _, p := range mutationPlans() {
				applied += damage(t, p, m.apply, func(damaged []Schedule, where string) {
					if err := Check(damaged); !isAny(err, m.want) {
						t.Errorf("%s: %v, want one of %v", where, err, m.want)
					}
				})
			}
			if applied == 0 {
				t.Error("applied nowhere")
			}
		})
	}
}

func isAny(err error, want []error) bool {
	return slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) })
}

// simulateAll tries both memories and several pipes with a few seeds.
func simulateAll(p Plan, all []Schedule) error {
	for _, alias := range []bool{false, true} {
		for seed, capacity := range []int{0, 1, 3, unbounded, unbounded} {
			o := options{alias: alias, capacity: capacity, seed: uint64(seed), absent: -1}
			if err := perform(p, all, o); err != nil {
				return fmt.Errorf("%v: %w", o, err)
			}
		}
	}
	return nil
}

// Where Check lets a dependency go, it was not needed: the result is right all
// the same. And it does find missing ones.
func TestCheckFindsMissingDependencies(t *testing.T) {
	found := map[Algorithm]int{}
	for _, p := range mutationPlans() {
		for k := range 4 {
			damage(t, p, dropDependency(k), func(damaged []Schedule, where string) {
				if err := Check(damaged); err != nil {
					found[p.Algorithm]++
				} else if err := simulateAll(p, damaged); err != nil && p.Algorithm != BarrierDissemination {
					t.Errorf("%s: Check misses what goes wrong without its %d. dependency: %v", where, k, err)
				}
			})
		}
	}
	for _, a := range Algorithms() {
		if found[a] == 0 && a != GatherDirect && a != BarrierDissemination {
			t.Errorf("%v: no missing dependency found", a)
		}
	}
}

// dropDependency forgets the k-th dependency of a step.
func dropDependency(k int) func(*Schedule, int) bool {
	return func(s *Schedule, i int) bool {
		after := s.Steps[i].After
		if k >= len(after) {
			return false
		}
		s.Steps[i].After = slices.Delete(slices.Clone(after), k, k+1)
		return true
	}
}

// Check does not know results; the simulation does: without a local step, the
// result is wrong.
func TestSimulationMissesLocalSteps(t *testing.T) {
	local := func(s *Schedule, i int) bool {
		if message(s.Steps[i]) {
			return false
		}
		removeStep(s, i)
		return true
	}
	applied := 0
	for _, p := range mutationPlans() {
		applied += damage(t, p, local, func(damaged []Schedule, where string) {
			if err := simulateAll(p, damaged); err == nil {
				t.Errorf("%s: nothing is wrong without it", where)
			}
		})
	}
	if applied == 0 {
		t.Error("there are no local steps")
	}
}
