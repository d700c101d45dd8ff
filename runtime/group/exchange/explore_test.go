package exchange

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"testing"
)

// A case is a group whose behaviour is explored.
type testCase struct {
	perHost []int
	radix   int
	rounds  int8
	breaks  int8
	shape   shape
}

func (c testCase) name() string {
	return fmt.Sprintf("%v radix %d %d rounds %d breaks kill %d quits %v split %v stays %v",
		c.perHost, c.radix, c.rounds, c.breaks, c.shape.kill, c.shape.quits, c.shape.split, c.shape.stays)
}

func (c testCase) start() model {
	m := newModel(c.perHost, c.radix, c.rounds, c.shape)
	m.breaks, m.shape.mayBreak = c.breaks, c.breaks > 0
	return m
}

func everybody() shape { return shape{quits: [2]int8{0, -1}} }

func inParts() shape {
	s := everybody()
	s.split = true
	return s
}

func staying() shape {
	s := everybody()
	s.stays = true
	return s
}

// killing has a member be killed at any time.
func killing(member int8) shape {
	s := inParts()
	s.stays, s.kill = true, member+1
	return s
}

// Every reachable state of a few hosts is visited, with messages between different
// pairs of hosts and news of who has left in every order. No member may read, and no
// host pass on, anything but what was published in the round, nobody may give up
// without a reason, no host may refuse what another one sends, and where nothing
// more can happen nobody may be waiting.
func TestEveryOrder(t *testing.T) {
	cases := []testCase{
		{[]int{1, 1}, 4, 4, 0, everybody()},
		{[]int{1, 1}, 4, 3, 2, inParts()},
		{[]int{2, 1}, 4, 3, 1, inParts()},
		{[]int{2, 2}, 4, 3, 0, everybody()},
		{[]int{2, 2}, 4, 2, 1, everybody()},
		{[]int{1, 1, 1}, 4, 4, 0, everybody()},
		{[]int{1, 1, 1}, 2, 4, 0, everybody()},
		{[]int{2, 2, 1}, 4, 3, 0, everybody()},
		{[]int{1, 1, 1}, 4, 1, 1, staying()},
		{[]int{2, 1, 1}, 4, 2, 0, everybody()},
		{[]int{1, 1, 1, 1}, 2, 3, 0, everybody()},
		{[]int{1, 1, 1}, 2, 1, 0, killing(1)},
		{[]int{2, 1}, 4, 2, 0, killing(0)},
		{[]int{2, 1}, 4, 2, 0, killing(1)},
		{[]int{1, 1}, 4, 2, 0, shape{quits: [2]int8{1, 1}}},
		{[]int{2, 2}, 4, 2, 0, shape{quits: [2]int8{3, 1}}},
		{[]int{2, 2}, 4, 2, 0, shape{quits: [2]int8{2, 1}}},
	}
	if os.Getenv("GOLAUNCH_SOAK") != "" { // minutes, and gigabytes
		cases = append(cases, []testCase{
			{[]int{2, 2, 2}, 4, 3, 0, inParts()},
			{[]int{1, 1, 1}, 4, 1, 1, everybody()},
			{[]int{1, 1, 1}, 4, 2, 1, staying()},
			{[]int{2, 2}, 4, 4, 2, inParts()},
			{[]int{1, 1, 1, 1, 1}, 2, 3, 0, everybody()},
			{[]int{1, 1, 1, 1}, 2, 1, 0, shape{quits: [2]int8{0, -1}, stays: true, kill: 2}},
		}...)
	}
	for _, c := range cases {
		t.Run(c.name(), func(t *testing.T) {
			states, err := explore(c.start(), 1<<26)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}

// More hosts have too many states: seeded walks go through some.
func TestWalks(t *testing.T) {
	walks := 1000
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		walks = 30_000
	}
	six := []int{1, 1, 1, 1, 1, 1}
	for _, c := range []testCase{
		{six, 2, 4, 0, inParts()},
		{six, 3, 4, 0, everybody()},
		{six, 4, 4, 0, everybody()},
		{six, 2, 3, 1, staying()},
		{six, 4, 3, 2, everybody()},
		{six, 2, 3, 0, killing(2)},
		{six, 4, 3, 0, killing(5)},
		{six, 2, 3, 0, shape{quits: [2]int8{3, 1}}},
		{[]int{1, 2, 1, 1, 1}, 2, 3, 1, killing(1)},
		{[]int{2, 1, 2, 1}, 2, 3, 0, killing(0)},
	} {
		t.Run(c.name(), func(t *testing.T) {
			for seed := range walks {
				if err := walk(c.start(), rand.New(rand.NewPCG(uint64(seed), 0))); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// walk takes one step after the other until there is none.
func walk(w model, random *rand.Rand) error {
	for {
		choices := 0
		var next model
		err := w.nexts(func(n model) error {
			if choices++; random.IntN(choices) == 0 {
				next = n
			}
			return nil
		})
		if err == nil && choices == 0 {
			err = w.settled()
		}
		if err != nil {
			return fmt.Errorf("%w\n%+v", err, w.members[:len(w.shape.hosts)])
		}
		if choices == 0 {
			return nil
		}
		w = next
	}
}

// The properties find mistakes when there are some.
func TestFaultsAreFound(t *testing.T) {
	cases := map[fault]testCase{
		silentBreak: {[]int{2, 2}, 4, 3, 1, everybody()},
		hasty:       {[]int{1, 1, 1, 1}, 2, 2, 0, everybody()},
		deaf:        {[]int{1, 1, 1, 1}, 2, 1, 0, killing(1)},
		notPassedOn: {[]int{1, 1, 1, 1, 1, 1}, 2, 1, 1, staying()},
	}
	for f := none + 1; f < faults; f++ {
		c, ok := cases[f]
		if !ok {
			c = testCase{[]int{2, 2}, 4, 3, 0, everybody()}
		}
		c.shape.fault = f
		if err := find(c); err == nil {
			t.Errorf("fault %d: not found", f)
		} else {
			t.Logf("fault %d: %v", f, err)
		}
	}
}

// find looks for a mistake by walks, and then everywhere.
func find(c testCase) error {
	for seed := range 3000 {
		if err := walk(c.start(), rand.New(rand.NewPCG(uint64(seed), 0))); err != nil {
			return err
		}
	}
	_, err := explore(c.start(), 1<<20)
	if errors.Is(err, errTooMany) {
		return nil
	}
	return err
}

var errTooMany = errors.New("too many states")

// explore visits every state that can be reached from start.
func explore(start model, limit int) (states int, err error) {
	seed := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	key := func(w model) [2]uint64 {
		return [2]uint64{maphash.Comparable(seed[0], w), maphash.Comparable(seed[1], w)}
	}
	seen := map[[2]uint64]struct{}{key(start): {}}
	stack := []model{start}
	for len(stack) > 0 {
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		moved := false
		err := w.nexts(func(n model) error {
			moved = true
			if _, ok := seen[key(n)]; !ok {
				seen[key(n)] = struct{}{}
				stack = append(stack, n)
			}
			return nil
		})
		if err == nil && !moved {
			err = w.settled()
		}
		if err != nil {
			return len(seen), fmt.Errorf("%w\n%+v", err, w.members[:len(w.shape.hosts)])
		}
		if len(seen) > limit {
			return len(seen), errTooMany
		}
	}
	return len(seen), nil
}
