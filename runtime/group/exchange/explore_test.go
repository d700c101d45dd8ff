package exchange

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"testing"
)

// Every reachable state of two or three hosts is visited, with messages between
// different pairs of hosts and news of who has left in every order. No member may
// read anything but what was published in its round, nobody may give up without a
// reason, no host may refuse what another one sends, and where nothing more can
// happen nobody may be waiting.
func TestEveryOrder(t *testing.T) {
	everybody := shape{quits: [2]int8{0, -1}}
	inParts := everybody
	inParts.split = true
	staying := everybody
	staying.stays = true
	cases := []struct {
		perHost []int
		rounds  int8
		breaks  int8
		shape   shape
	}{
		{[]int{1, 1}, 4, 0, everybody},
		{[]int{1, 1}, 3, 2, inParts},
		{[]int{2, 1}, 3, 1, inParts},
		{[]int{2, 2}, 3, 0, everybody},
		{[]int{2, 2}, 2, 1, everybody},
		{[]int{1, 1, 1}, 4, 0, everybody},
		{[]int{2, 2, 1}, 3, 0, everybody},
		{[]int{1, 1, 1}, 1, 1, staying},
		{[]int{2, 1, 1}, 2, 0, everybody},
		{[]int{1, 1}, 2, 0, shape{quits: [2]int8{1, 1}}},
		{[]int{2, 2}, 2, 0, shape{quits: [2]int8{3, 1}}},
		{[]int{2, 2}, 2, 0, shape{quits: [2]int8{2, 1}}},
	}
	if os.Getenv("GOLAUNCH_SOAK") != "" { // minutes, and gigabytes
		cases = append(cases, []struct {
			perHost []int
			rounds  int8
			breaks  int8
			shape   shape
		}{{[]int{2, 2, 2}, 3, 0, inParts}, {[]int{1, 1, 1}, 1, 1, everybody}, {[]int{1, 1, 1}, 2, 1, staying}, {[]int{2, 2}, 4, 2, inParts}}...)
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%v %d rounds %d breaks quits %v split %v stays %v", c.perHost, c.rounds, c.breaks, c.shape.quits, c.shape.split, c.shape.stays), func(t *testing.T) {
			start := newModel(c.perHost, c.rounds, c.shape)
			start.breaks, start.shape.mayBreak = c.breaks, c.breaks > 0
			states, err := explore(start, 1<<26)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", states)
		})
	}
}

// The properties find mistakes when there are some.
func TestFaultsAreFound(t *testing.T) {
	for f := none + 1; f < faults; f++ {
		start := newModel([]int{2, 2}, 3, shape{quits: [2]int8{0, -1}, fault: f})
		if f == silentBreak {
			start.breaks, start.shape.mayBreak = 1, true
		}
		states, err := explore(start, 1<<22)
		if err == nil || errors.Is(err, errTooMany) {
			t.Errorf("fault %d: not found in %d states", f, states)
			continue
		}
		t.Logf("fault %d: %d states: %v", f, states, err)
	}
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
