package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

const maxRanks = 17

// plans lists the plans worth looking at for an algorithm and a size: odd counts,
// fewer elements than ranks, none; several roots; chunks that divide and do not.
func plans(a Algorithm, size int) []Plan {
	var list []Plan
	for _, count := range unique(0, 1, 2, size-1, size, size+1, 2*size+1, 37) {
		for _, root := range choose(a.Rooted(), unique(0, size/2, size-1)) {
			for _, chunk := range choose(a.Chunked(), []int{0, 1, 2, 5}) {
				for _, hosts := range layouts(a, size) {
					list = append(list, Plan{a, size, root, count, chunk, hosts})
				}
			}
		}
	}
	return list
}

// layouts are ways to spread ranks over hosts: blocks of three, in turns over two
// hosts, each on its own, all on one.
func layouts(a Algorithm, size int) []Hosts {
	if !a.Hosted() {
		return []Hosts{""}
	}
	blocks, turns, apart := make([]int, size), make([]int, size), make([]int, size)
	for r := range size {
		blocks[r], turns[r], apart[r] = r/3, 1-r%2, r
	}
	if size > 9 {
		return []Hosts{HostsOf(blocks)}
	}
	return []Hosts{HostsOf(blocks), HostsOf(turns), HostsOf(apart), ""}
}

// choose gives the values if they matter, and one otherwise.
func choose(matter bool, values []int) []int {
	if matter {
		return values
	}
	return []int{0}
}

func unique(values ...int) []int {
	var list []int
	for _, v := range values {
		if !contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// eachPlan runs the body on every plan of every algorithm for 1 to 17 ranks.
func eachPlan(t *testing.T, body func(t *testing.T, p Plan, all []Schedule)) {
	for _, a := range Algorithms() {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= maxRanks; size++ {
				for _, p := range plans(a, size) {
					all, err := p.All()
					if err != nil {
						t.Fatalf("%+v: %v", p, err)
					}
					body(t, p, all)
				}
			}
		})
	}
}

func TestEveryScheduleIsSound(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan, all []Schedule) {
		if err := Check(all); err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
	})
}

func TestEveryScheduleGivesTheResult(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan, all []Schedule) {
		random := rand.New(rand.NewPCG(uint64(p.Size), uint64(p.Count)))
		for _, alias := range []bool{false, true} {
			capacity := []int{0, 1, 3, unbounded}[random.IntN(4)]
			o := options{alias: alias, capacity: capacity, seed: random.Uint64(), absent: -1}
			if err := perform(p, all, o); err != nil {
				t.Fatalf("%+v: %v: %v", p, o, err)
			}
		}
	})
}

// A barrier: while one rank has not arrived, no other may leave.
func TestNobodyLeavesTheBarrierEarly(t *testing.T) {
	for size := 2; size <= maxRanks; size++ {
		all, err := Plan{Algorithm: BarrierDissemination, Size: size}.All()
		if err != nil {
			t.Fatal(err)
		}
		for absent := range size {
			m := newSimulation(all, options{capacity: unbounded, seed: uint64(absent), absent: absent})
			m.inputs(Plan{Algorithm: BarrierDissemination, Size: size})
			if err := m.run(); err != nil {
				t.Fatal(err)
			}
			for rank, r := range m.ranks {
				if len(r.pending) == 0 {
					t.Errorf("%d ranks: rank %d left before rank %d came", size, rank, absent)
				}
			}
		}
	}
}

func TestNoElementsNoSteps(t *testing.T) {
	eachPlan(t, func(t *testing.T, p Plan, all []Schedule) {
		for _, s := range all {
			if p.Count == 0 && len(s.Steps) > 0 && p.Algorithm != BarrierDissemination {
				t.Fatalf("%+v: %v", p, s)
			}
		}
	})
}

func TestPlansThatMakeNoSense(t *testing.T) {
	good := Plan{BcastChain, 4, 1, 10, 3, ""}
	if _, err := good.Schedule(3); err != nil {
		t.Fatal(err)
	}
	bad := func(change func(*Plan)) Plan { p := good; change(&p); return p }
	for _, c := range []struct {
		plan Plan
		rank int
		want string
	}{
		{good, 4, "schedule: bcast_chain: rank 4 outside 0..3"},
		{good, -1, "schedule: bcast_chain: rank -1 outside 0..3"},
		{bad(func(p *Plan) { p.Size = 0 }), 0, "schedule: bcast_chain for 0 ranks"},
		{bad(func(p *Plan) { p.Root = 4 }), 0, "schedule: bcast_chain: root 4 outside 0..3"},
		{bad(func(p *Plan) { p.Root = -1 }), 0, "schedule: bcast_chain: root -1 outside 0..3"},
		{bad(func(p *Plan) { p.Count = -1 }), 0, "schedule: bcast_chain: -1 elements in chunks of 3"},
		{bad(func(p *Plan) { p.Chunk = -1 }), 0, "schedule: bcast_chain: 10 elements in chunks of -1"},
		{bad(func(p *Plan) { p.Algorithm = 99 }), 0, "schedule: unknown algorithm 99"},
	} {
		_, err := c.plan.Schedule(c.rank)
		if err == nil || err.Error() != c.want {
			t.Errorf("%+v rank %d: %v, want %s", c.plan, c.rank, err, c.want)
		}
	}
	if _, err := bad(func(p *Plan) { p.Size = 0 }).All(); err == nil {
		t.Error("All accepts a plan for no ranks")
	}
}

func TestSelectionFitsTheCollective(t *testing.T) {
	for _, c := range []struct {
		name   string
		choose func(size, bytes int, hosts Hosts) Algorithm
		may    []Algorithm
	}{
		{"barrier", func(size, _ int, _ Hosts) Algorithm { return ForBarrier(size) }, []Algorithm{BarrierDissemination}},
		{"bcast", ForBcast, []Algorithm{BcastBinomial, BcastChain, BcastTwoLevel}},
		{"reduce", ForReduce, []Algorithm{ReduceBinomial, ReduceScatterGather, ReduceTwoLevel}},
		{"allreduce", ForAllreduce, []Algorithm{AllreduceRecursiveDoubling, AllreduceReduceScatterAllgather, AllreduceTwoLevel}},
		{"gather", func(size, bytes int, _ Hosts) Algorithm { return ForGather(size, bytes) }, []Algorithm{GatherDirect}},
		{"allgather", func(size, bytes int, _ Hosts) Algorithm { return ForAllgather(size, bytes) }, []Algorithm{AllgatherRing}},
	} {
		chosen := map[Algorithm]bool{}
		for size := 1; size <= maxRanks; size++ {
			for bytes := 0; bytes <= 1<<26; bytes = 2*bytes + 1 {
				for _, hosts := range layouts(AllreduceTwoLevel, size) {
					chosen[c.choose(size, bytes, hosts)] = true
				}
			}
		}
		if len(chosen) != len(c.may) {
			t.Errorf("%s chooses %v of %v", c.name, chosen, c.may)
		}
		for _, a := range c.may {
			if !chosen[a] {
				t.Errorf("%s never chooses %v", c.name, a)
			}
		}
	}
}

// The volume promised by the long allreduce: each rank sends 2(n-1)/n of the vector.
func TestLongAllreduceSendsTheLeast(t *testing.T) {
	const parts = 6
	for size := 1; size <= maxRanks; size++ {
		p := Plan{AllreduceReduceScatterAllgather, size, 0, parts * size, 4, ""}
		for rank := range size {
			s, err := p.Schedule(rank)
			if err != nil {
				t.Fatal(err)
			}
			sent := 0
			for _, step := range s.Steps {
				if step.Kind == Send {
					sent += step.Len
				}
			}
			if want := 2 * (size - 1) * parts; sent != want {
				t.Errorf("%d ranks: rank %d sends %d elements, want %d", size, rank, sent, want)
			}
		}
	}
}

func BenchmarkSchedule(b *testing.B) {
	for _, a := range Algorithms() {
		b.Run(fmt.Sprint(a), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Plan{a, maxRanks, 0, 1 << 16, 1 << 12, ""}).Schedule(3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
