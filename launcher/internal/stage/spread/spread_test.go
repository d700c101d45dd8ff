package spread

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func depths(parents []int) []int {
	d := make([]int, len(parents))
	for i, p := range parents {
		if p >= 0 {
			d[i] = d[p] + 1
		}
	}
	return d
}

func TestShape(t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, MaxChain, MaxChain + 1, 200, 65536} {
		parents := Shape(n)
		children := make(map[int]int)
		for i, p := range parents {
			if p >= i || p < -1 {
				t.Fatalf("%d hosts: %d is sent to by %d", n, i, p)
			}
			children[p]++
		}
		arity, deep := 1, n
		if n > MaxChain {
			arity, deep = 2, bits.Len(uint(n+1))
		}
		for p, c := range children {
			if c > arity {
				t.Errorf("%d hosts: %d sends to %d", n, p, c)
			}
		}
		if d := depths(parents); n > 0 && slices.Max(d)+1 > min(deep, MaxDepth) {
			t.Errorf("%d hosts: depth %d", n, slices.Max(d)+1)
		}
		for _, h := range Heads(parents, -1) {
			if members, plan := Subtree(parents, h); !Valid(plan) || len(members) != len(plan) {
				t.Errorf("%d hosts: the plan for %d is not valid: %v", n, h, plan)
			}
		}
	}
}

func TestSubtree(t *testing.T) {
	members, plan := Subtree([]int{-1, -1, 0, 0, 1, 1, 2, 3}, 0)
	if d := cmp.Diff([][]int{{0, 2, 3, 6, 7}, {-1, 0, 0, 1, 2}}, [][]int{members, plan}); d != "" {
		t.Error(d)
	}
}

func TestValid(t *testing.T) {
	long := make([]int, MaxDepth+1)
	for i := range long {
		long[i] = i - 1
	}
	for _, bad := range [][]int{nil, {0}, {-2}, {-1, -1}, {-1, 1}, {-1, 2, 0}, {-1, 0, -7}, long} {
		if Valid(bad) {
			t.Errorf("%v is a plan", bad)
		}
	}
	if !Valid([]int{-1, 0, 0, 2}) || !Valid(long[:MaxDepth]) {
		t.Error("a plan is refused")
	}
}

// show writes orders as "0: 1 2 3, close 4".
func show(o Orders) string {
	var parts []string
	for _, s := range o.Open {
		parts = append(parts, fmt.Sprintf("%d: %v", s.Number, s.Hosts))
	}
	for _, n := range o.Close {
		parts = append(parts, fmt.Sprint("close ", n))
	}
	return strings.Join(parts, ", ")
}

func expect(t *testing.T, o Orders, want string) {
	t.Helper()
	if got := show(o); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNothingGoesWrong(t *testing.T) {
	p, o := New(3)
	expect(t, o, "0: [0 1 2]")
	expect(t, p.Reached(1), "")
	expect(t, p.Reached(0), "")
	expect(t, p.Reached(0), "")
	expect(t, p.Reached(2), "close 0")
	if !p.Over() {
		t.Error("it is not over")
	}
	if none, o := New(0); !none.Over() || show(o) != "" {
		t.Error("a push to nobody is not over")
	}
}

func TestAnInnerHostIsLost(t *testing.T) {
	p, _ := New(4)
	expect(t, p.Lost(0, 1, "gone"), "1: [1], 2: [2 3]")
	expect(t, p.Lost(0, 1, "again"), "") // not that session's business any more
	expect(t, p.Reached(2), "")
	expect(t, p.Ended(1, "no route"), "close 1")
	if got, want := p.Failure(1), "no route (before, behind other hosts: gone)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	expect(t, p.Reached(0), "close 0")
	expect(t, p.Reached(3), "close 2")
	if !p.Over() {
		t.Error("it is not over")
	}
}

func TestTheFirstHostIsLost(t *testing.T) {
	p, _ := New(3)
	expect(t, p.Ended(0, "refused"), "1: [1 2], close 0")
	if p.Failure(0) != "refused" || p.Over() {
		t.Error(p.Failure(0))
	}
}

func TestASessionEndsAfterItsFirstHostWasReached(t *testing.T) {
	p, _ := New(4)
	p.Reached(0)
	expect(t, p.Ended(0, "broken"), "1: [1], 2: [2 3], close 0")
}

func TestAHostIsLostAfterItWasReached(t *testing.T) {
	p, _ := New(4)
	p.Reached(1)
	expect(t, p.Lost(0, 1, "gone"), "1: [2], 2: [3]")
	expect(t, p.Lost(0, 1, "gone"), "")
	expect(t, p.Reached(0), "close 0")
	expect(t, p.Lost(0, 1, "gone"), "")
}

func TestAHostFails(t *testing.T) {
	p, _ := New(4)
	expect(t, p.Failed(0, 1, "disk full"), "1: [2 3]")
	expect(t, p.Failed(0, 1, "disk full"), "")
	expect(t, p.Failed(9, 0, "x"), "")
	expect(t, p.Lost(0, 77, "x"), "")
}

func TestSlowHosts(t *testing.T) {
	p, _ := New(4)
	expect(t, p.Overdue(0), "1: [1 2 3]") // 0 is slow
	expect(t, p.Overdue(0), "")
	p.Reached(1)
	expect(t, p.Overdue(1), "2: [2], 3: [3], close 1") // 1 to 2 is slow, or 2
	if got := p.Unreached(0); !slices.Equal(got, []int{0}) {
		t.Error(got)
	}
	if p.Unreached(1) != nil {
		t.Error("a closed session has hosts")
	}
}

// A world in which hosts are dead, fail, or pass nothing on, and where what happens
// in sessions is told in any order, also twice and also late.
type world struct {
	r    *rand.Rand
	kind []string // of each host
}

// event tells something that may be told next in a session.
func (w *world) event(p *Push, s *Session) Orders {
	position := w.r.IntN(len(s.Hosts))
	for i := position; i > 0; i = s.Parents[i] { // only what arrives
		if k := w.kind[s.Hosts[s.Parents[i]]]; k != "good" {
			position = s.Parents[i]
		}
	}
	h := s.Hosts[position]
	switch w.kind[h] {
	case "good", "holds up":
		return p.Reached(h)
	case "fails":
		return p.Failed(s.Number, h, "fails")
	case "dead":
		if position == 0 {
			return p.Ended(s.Number, "dead")
		}
		return p.Lost(s.Number, h, "dead")
	}
	panic(w.kind[h])
}

func TestRandomTrouble(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := &world{r: r, kind: make([]string, 1+r.IntN(3*MaxChain))}
		for i := range w.kind {
			w.kind[i] = "good"
			if r.IntN(4) == 0 {
				w.kind[i] = []string{"dead", "fails", "holds up"}[r.IntN(3)]
			}
		}
		p, o := New(len(w.kind))
		var all []*Session // also those that are closed: what they tell comes late
		for step := 0; !p.Over(); step++ {
			all = append(all, o.Open...)
			if len(all) > 3*len(w.kind) || step > 1000*len(w.kind) {
				t.Fatalf("seed %d: no end after %d sessions and %d steps for %d hosts", seed, len(all), step, len(w.kind))
			}
			if len(o.Open)+len(o.Close) > 0 {
				checkInvariant(t, seed, p)
			}
			s := all[r.IntN(len(all))]
			if still := p.sessions[r.IntN(p.next)]; still != nil {
				s = still
			}
			switch r.IntN(50) {
			case 0:
				o = p.Overdue(s.Number)
			default:
				o = w.event(p, s)
			}
		}
		for h, k := range w.kind {
			if bad := k == "dead" || k == "fails"; bad != (p.Failure(h) != "") {
				t.Fatalf("seed %d: host %d is %s: %q", seed, h, k, p.Failure(h))
			}
		}
		if len(p.sessions) > 0 {
			t.Fatalf("seed %d: %d sessions stay open", seed, len(p.sessions))
		}
	}
}

func checkInvariant(t *testing.T, seed uint64, p *Push) {
	t.Helper()
	in := make([]int, len(p.hosts))
	for _, s := range p.sessions {
		for _, h := range s.Hosts {
			if p.in(s, h) {
				in[h]++
			}
		}
	}
	open := 0
	for i, h := range p.hosts {
		want := 0
		if h.state == unreached {
			open, want = open+1, 1
		}
		if in[i] != want {
			t.Fatalf("seed %d: host %d, %+v, is in %d sessions", seed, i, h, in[i])
		}
	}
	if open != p.open {
		t.Fatalf("seed %d: %d hosts are open, not %d", seed, open, p.open)
	}
}
