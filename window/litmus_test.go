package window_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// Two processes each Put 1 into an element of their own part, Flush, and Get the other's
// element. That both get 0 is what Flush forbids: each Put was complete at its target
// before the Get began. Without the Flush it is what store buffers do; the test says how
// often that was seen, to show that it can see it. (With fullFence emptied, on two
// cores of an EPYC, each run saw it, in hundreds of 30,000 trials.)
func TestStoreBuffering(t *testing.T) {
	for _, c := range []struct{ procs, hosts int }{{1, 1}, {2, 1}, {4, 1}, {2, 2}} {
		out, err := launch(t, 2, "litmus", onMachine(c.hosts), fmt.Sprintf("%s=%d", procsVariable, c.procs))
		if err != nil {
			t.Fatalf("GOMAXPROCS %d, %d hosts: %v\n%s", c.procs, c.hosts, err, out)
		}
		var flushed int
		if _, err := fmt.Sscanf(out, "both 0: %d times", &flushed); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		if flushed != 0 {
			t.Errorf("GOMAXPROCS %d, %d hosts: both ranks miss the other's Put %d times", c.procs, c.hosts, flushed)
		}
		t.Logf("GOMAXPROCS %d, %d hosts: %s", c.procs, c.hosts, out)
	}
}

// As many trials as fit into the budget: where cores are short they are slow.
const (
	trials = 30000
	budget = 500 * time.Millisecond
)

// A litmus is one rank's side. Trial i uses elements of its own.
type litmus struct {
	ctx      context.Context
	me       int
	vars     *window.Window[int64] // element i: what is put in trial i
	seen     *window.Window[int64] // element i: what the rank got in trial i
	progress *window.Window[int64] // how many trials the rank has begun
}

func litmusProgram(ctx context.Context, comm *world.Comm) error {
	flushed, n, err := runLitmus(ctx, comm, true)
	if err != nil {
		return err
	}
	plain, m, err := runLitmus(ctx, comm, false)
	if err == nil && comm.Rank() == 0 {
		fmt.Printf("both 0: %d times in %d trials with Flush, %d in %d without\n", flushed, n, plain, m)
	}
	return err
}

// runLitmus returns in how many trials both ranks got 0, and how many there were.
func runLitmus(ctx context.Context, comm *world.Comm, flush bool) (both, done int, err error) {
	l := litmus{ctx: ctx, me: comm.Rank()}
	end := time.Now().Add(budget)
	for _, w := range []**window.Window[int64]{&l.vars, &l.seen, &l.progress} {
		if *w, err = window.Allocate[int64](ctx, comm, trials, flavour(nil)...); err != nil {
			return 0, 0, err
		}
	}
	if err := errors.Join(l.vars.LockAll(ctx), l.progress.LockAll(ctx)); err != nil {
		return 0, 0, err
	}
	for ; done < trials; done++ {
		if more, err := l.rendezvous(done, time.Now().Before(end)); err != nil {
			return 0, 0, err
		} else if !more {
			break
		}
		if err := l.trial(done, flush); err != nil {
			return 0, 0, err
		}
	}
	if err := errors.Join(l.vars.UnlockAll(), l.progress.UnlockAll(), l.seen.Fence(ctx)); err != nil {
		return 0, 0, err
	}
	theirs := make([]int64, trials)
	if err := l.seen.Get(1-l.me, 0, theirs); err != nil {
		return 0, 0, err
	}
	for i, mine := range l.seen.Local()[:done] {
		if mine == 0 && theirs[i] == 0 {
			both++
		}
	}
	return both, done, errors.Join(l.vars.Free(ctx), l.seen.Free(ctx), l.progress.Free(ctx))
}

// trial begins when both ranks have come to it.
func (l *litmus) trial(i int, flush bool) error {
	one, got := [1]int64{1}, [1]int64{}
	if err := l.vars.Put(l.me, i, one[:]); err != nil {
		return err
	}
	if flush {
		if err := l.vars.Flush(l.me); err != nil {
			return err
		}
	}
	if err := l.vars.Get(1-l.me, i, got[:]); err != nil {
		return err
	}
	l.seen.Local()[i] = got[0]
	return nil
}

// stop is the progress of rank 0 when its time is over.
const stop = -1

// rendezvous spins, so that both ranks go on at the same time; now and then it lets the
// other one have the core, if they share it. Rank 0 says whether there are more trials.
func (l *litmus) rendezvous(i int, more bool) (bool, error) {
	progress := int64(i + 1)
	if l.me == 0 && !more {
		progress = stop
	}
	if err := l.progress.Accumulate(l.me, 0, []int64{progress}, window.Replace); err != nil || progress == stop {
		return false, err
	}
	for spins := 1; ; spins++ {
		p, err := l.progress.FetchAndOp(1-l.me, 0, 0, window.NoOp)
		if err != nil || p == stop || p > int64(i) {
			return p != stop, err
		}
		if spins%1000 == 0 {
			relax.Yield()
			if l.ctx.Err() != nil {
				return false, context.Cause(l.ctx)
			}
		}
	}
}
