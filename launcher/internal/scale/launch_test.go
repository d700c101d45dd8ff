package scale

import (
	"math"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/tree"
)

func costs(t *testing.T) *Costs {
	t.Helper()
	c, err := Measured()
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestEventsComeInOrder(t *testing.T) {
	var q Queue[int]
	times := []Instant{5, 3, 9, 3, 1, 5, 5, 0}
	for i, at := range times {
		q.Add(at, i)
	}
	lastAt, last := Instant(-1), -1
	for range times {
		at, i, ok := q.Next()
		if !ok || at != times[i] || at < lastAt || at == lastAt && i < last {
			t.Fatalf("event %d at %d after %d at %d", i, at, last, lastAt)
		}
		lastAt, last = at, i
	}
	if _, _, ok := q.Next(); ok {
		t.Error("there is one too many")
	}
}

func TestServerDoesOneThingAtATime(t *testing.T) {
	var s server
	if a, b := s.do(10, 5, nil), s.do(12, 5, nil); a != 15 || b != 20 {
		t.Errorf("two of 5 from 10 and 12 end at %d, %d", a, b)
	}
	shared := newPool(2)
	servers := make([]server, 3)
	var end Instant
	for i := range servers {
		end = servers[i].do(0, 10, shared)
	}
	if end != 20 {
		t.Errorf("three of 10 on two processors end at %d", end)
	}
}

// nothing costs anything but attaching, and the network.
func attachOnly() *Costs {
	return &Costs{Attach: Cost{2, "ms", "-"}, Latency: Cost{50, "us", "-"}}
}

// In a star the root has its half of every handshake.
func TestStarCost(t *testing.T) {
	for _, hosts := range []int{1, 10, 1000} {
		o := Simulate(Launch{Hosts: hosts, Ranks: hosts, Arity: hosts, Cores: 8, Joined: true}, attachOnly())
		if want := Millisecond * Instant(hosts); o.RootCPU != want {
			t.Errorf("%d hosts: the root uses %d, want %d", hosts, o.RootCPU, want)
		}
		if want := Millisecond*Instant(hosts+1) + 150*Microsecond; o.Attached != want {
			t.Errorf("%d hosts attach until %d, want %d", hosts, o.Attached, want)
		}
	}
}

func TestTreeDepth(t *testing.T) {
	for _, arity := range []int{2, 8, 64} {
		for hosts, depth := 0, 1; hosts < 10000; depth++ {
			hosts += int(math.Pow(float64(arity), float64(depth))) // all of that depth
			s := newLaunching(Launch{Hosts: hosts, Arity: arity}, &Costs{})
			if s.depth() != depth {
				t.Errorf("%d hosts, arity %d: depth %d, want %d", hosts, arity, s.depth(), depth)
			}
		}
	}
}

// Only the root and hosts with others below them pay for what is told to all: each link
// once.
func TestMulticastGoesOverEachLinkOnce(t *testing.T) {
	c := &Costs{Multicast: Cost{1, "us", "-"}}
	for _, arity := range []int{2, tree.Arity, 100} {
		o := Simulate(Launch{Hosts: 100, Ranks: 300, Arity: arity, Cores: 8, Joined: true}, c)
		if want := 100 * 300 * rankTold * Microsecond; o.CPU != want {
			t.Errorf("arity %d: %d, want %d", arity, o.CPU, want)
		}
	}
}

func TestLaunchIsDeterministic(t *testing.T) {
	l := Launch{Hosts: 500, Ranks: 2000, Arity: tree.Arity, Cores: 8, Meets: true}
	if a, b := Simulate(l, costs(t)), Simulate(l, costs(t)); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
}

func TestPhasesFollowEachOther(t *testing.T) {
	for _, hosts := range []int{1, 5, 50, 5000} {
		for _, arity := range []int{2, tree.Arity, hosts} {
			o := Simulate(Launch{Hosts: hosts, Ranks: 4 * hosts, Arity: arity, Cores: 8, Meets: true}, costs(t))
			last := Instant(0)
			for i, at := range []Instant{o.Placed, o.Attached, o.Told, o.Joined, o.Known, o.Met} {
				if at < last {
					t.Errorf("%d hosts, arity %d: phase %d ends at %d, the one before at %d", hosts, arity, i, at, last)
				}
				last = at
			}
		}
	}
}

func TestStage(t *testing.T) {
	const mb, gbit = 1e6, 125e6
	for _, c := range []struct {
		hosts int
		want  Instant
	}{{1, 162 * Millisecond}, {4, 168 * Millisecond}, {32, 224 * Millisecond}, {100000, 352 * Millisecond}} {
		if got := Stage(c.hosts, 20*mb, gbit, 2*Millisecond); got != c.want {
			t.Errorf("%d hosts: %d, want %d", c.hosts, got, c.want)
		}
	}
}

func TestParseCosts(t *testing.T) {
	for _, text := range []string{``, `{}`, `{"Attach": {"value": 1, "unit": "us", "how": "so"}}`, `{"Other": {"value": 1, "unit": "us", "how": "so"}}`} {
		if _, err := ParseCosts([]byte(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}
