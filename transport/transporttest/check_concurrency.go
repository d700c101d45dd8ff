package transporttest

import (
	"bytes"
	"fmt"
	"testing"
)

var concurrencyChecks = []check{
	{"many goroutines of one rank use every operation at once", 3, manyGoroutines},
	{"what many goroutines send on one connection keeps each one's order", 2, goroutinesKeepTheirOrder},
	{"many endpoints in one process do not disturb each other", 8, manyEndpoints},
	{"regions come and go while others are used", 2, regionsComeAndGo},
}

// manyGoroutines: each goroutine has its own part of the target's region.
func manyGoroutines(t *testing.T, nodes []*node) {
	start(nodes...)
	const goroutines, part = 8, 4096
	counter, err := nodes[1].share(8)
	ok(t, err)
	s, err := nodes[1].share(goroutines * part)
	ok(t, err)
	parallel(t, goroutines, func(i int) error {
		n := nodes[2*(i%2)] // ranks 0 and 2
		return worker(n, s, counter, i, part)
	})
	sum, err := nodes[0].word(counter)
	ok(t, err)
	if sum != goroutines*100 {
		t.Errorf("%d goroutines added 100 each and made %d", goroutines, sum)
	}
}

func worker(n *node, s, counter shared, i, part int) error {
	for k := range 100 {
		size := (k * 97) % part
		want := pattern(uint64(100*i+k), size)
		mine := s.part(int64(i*part), int64(size))
		if err := n.put(1, mine, want); err != nil {
			return err
		}
		got := make([]byte, size)
		if err := n.get(1, got, mine); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("goroutine %d, round %d: another one's bytes at %d", i, k, mismatch(got, want))
		}
		if _, err := n.fetchAdd(1, counter.remote, 1); err != nil {
			return err
		}
		if err := n.send(1, "round done"); err != nil {
			return err
		}
	}
	return nil
}

func goroutinesKeepTheirOrder(t *testing.T, nodes []*node) {
	start(nodes[1])
	const goroutines, each = 6, 500
	parallel(t, goroutines+1, func(i int) error {
		if i == goroutines {
			return receiveKeepingOrder(nodes[1], goroutines, each)
		}
		for k := range each {
			if err := nodes[0].send(1, fmt.Sprintf("%d %d", i, k)); err != nil {
				return err
			}
		}
		return nil
	})
}

func receiveKeepingOrder(n *node, goroutines, each int) error {
	next := make([]int, goroutines)
	for range goroutines * each {
		got, err := n.receive()
		if err != nil {
			return err
		}
		var i, k int
		if _, err := fmt.Sscan(got.text, &i, &k); err != nil || k != next[i] {
			return fmt.Errorf("received %q, expecting number %d of that goroutine (%v)", got.text, next[i], err)
		}
		next[i]++
	}
	return nil
}

// manyEndpoints: every rank puts into every rank's region and tells it.
func manyEndpoints(t *testing.T, nodes []*node) {
	start(nodes...)
	const part = 1000
	all := make([]shared, len(nodes))
	for rank, n := range nodes {
		var err error
		all[rank], err = n.share(part * len(nodes))
		ok(t, err)
	}
	parallel(t, len(nodes), func(rank int) error {
		n := nodes[rank]
		for to, s := range all {
			if err := n.put(to, s.part(int64(rank*part), part), pattern(uint64(rank), part)); err != nil {
				return err
			}
			if err := n.send(to, "written"); err != nil {
				return err
			}
		}
		return nil
	})
	for rank, n := range nodes {
		for range nodes {
			_, err := n.receive()
			ok(t, err)
		}
		for from := range nodes {
			if !bytes.Equal(all[rank].mem[from*part:(from+1)*part], pattern(uint64(from), part)) {
				t.Errorf("rank %d does not hold what rank %d put", rank, from)
			}
		}
	}
}

func regionsComeAndGo(t *testing.T, nodes []*node) {
	start(nodes...)
	stay, err := nodes[1].share(4096)
	ok(t, err)
	parallel(t, 4, func(i int) error {
		for k := range 50 {
			if i == 0 {
				if err := putGetCompare(nodes[0], stay, 0, pattern(uint64(k), 4096)); err != nil {
					return err
				}
				continue
			}
			if err := registerUseClose(nodes[0], nodes[1], i, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func registerUseClose(n, owner *node, i, k int) error {
	s, err := owner.share(64)
	if err != nil {
		return err
	}
	if err := putGetCompare(n, s, 0, pattern(uint64(1000*i+k), 64)); err != nil {
		return err
	}
	if err := s.region.Close(); err != nil {
		return err
	}
	return everythingIsErrKey(n, s.owner, s.part(0, 8))
}
