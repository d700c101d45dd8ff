package group

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/internal/spawntest"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
)

func memory(t testing.TB, n int, opt job.Options) *job.Memory {
	t.Helper()
	opt.Extra = Size(n)
	mem, err := job.Create(n, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	return mem
}

func member(t testing.TB, mem *job.Memory, me int) *Group {
	t.Helper()
	ranks := make([]int, mem.Size())
	for i := range ranks {
		ranks[i] = i
	}
	w := waiting.New(mem, me)
	t.Cleanup(w.Close)
	g, err := New(Config{What: "test", Area: mem.Extra(), Me: me, Ranks: ranks, Memory: mem, Waiter: w})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// together runs body for every member at once and waits for all.
func together(t *testing.T, mem *job.Memory, body func(g *Group) error) {
	t.Helper()
	results := make(chan error, mem.Size())
	for me := range mem.Size() {
		g := member(t, mem, me)
		go func() {
			if err := body(g); err != nil {
				results <- fmt.Errorf("member %d: %w", me, err)
				return
			}
			results <- nil
		}()
	}
	for range mem.Size() {
		select {
		case err := <-results:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a member hangs")
		}
	}
}

// rounds checks in each of many rounds that everybody's payload of that round,
// and no other, is seen.
func rounds(ctx context.Context, g *Group, count int) error {
	var mine [16]byte
	for round := range uint64(count) {
		binary.LittleEndian.PutUint64(mine[:], round)
		binary.LittleEndian.PutUint64(mine[8:], uint64(g.Me()))
		g.Publish(7, mine[:])
		if err := g.WaitAll(ctx); err != nil {
			return err
		}
		for m := range g.Size() {
			p := g.Payload(m)
			r, who := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
			if r != round || who != uint64(m) {
				return fmt.Errorf("round %d: the slot of member %d holds round %d of member %d", round, m, r, who)
			}
		}
	}
	return nil
}

func TestRoundsOfGoroutines(t *testing.T) {
	for n := 1; n <= 17; n++ {
		for _, cores := range []int{1, 100} {
			mem := memory(t, n, job.Options{Cores: cores, InProcess: true})
			together(t, mem, func(g *Group) error { return rounds(t.Context(), g, 200) })
		}
	}
}

func TestRoundsOfProcesses(t *testing.T) {
	if rank, ok := spawntest.Rank(); ok {
		mem, err := job.Map(os.NewFile(spawntest.FirstFile, "job"))
		if err != nil {
			t.Fatal(err)
		}
		if err := rounds(t.Context(), member(t, mem, rank), 20000); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, n := range []int{2, 3, 8} {
		for _, procs := range []int{1, 2, 4} {
			mem := memory(t, n, job.Options{Cores: 2})
			spawntest.Run(t, n, []string{"GOMAXPROCS=" + strconv.Itoa(procs)}, mem.File())
		}
	}
}

// A member publishes its head before it is counted. Whoever went on at the sight
// of the head could be counted in the next round first, and the round's last
// arrival would be noticed by nobody: ranks then slept for ever.
func TestHeadAloneIsNoArrival(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	g.Publish(7, nil)
	slotOf(g.area, 2, 1, 1).head.Store(g.head)
	if g.missing.Ready() {
		t.Error("the round is over before the other member was counted")
	}
	wordAt(g.area, arrivalsAt).Add(1)
	if err := g.WaitAll(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestLargestPayloadArrivesWhole(t *testing.T) {
	mem := memory(t, 3, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		mine := strings.Repeat(strconv.Itoa(g.Me()), MaxPayload)
		g.Publish(1, []byte(mine))
		if err := g.WaitAll(t.Context()); err != nil {
			return err
		}
		for m := range g.Size() {
			if got := string(g.Payload(m)); got != strings.Repeat(strconv.Itoa(m), MaxPayload) {
				return fmt.Errorf("payload of member %d was damaged", m)
			}
		}
		return nil
	})
}

func TestMismatchIsSeenByEverybody(t *testing.T) {
	mem := memory(t, 3, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		signature := uint32(5)
		if g.Me() == 1 {
			signature = 6
		}
		g.Publish(signature, nil)
		var mismatch *MismatchError
		if err := g.WaitAll(t.Context()); !errors.As(err, &mismatch) {
			return fmt.Errorf("%v, want a mismatch", err)
		}
		if mismatch.Mine == mismatch.Theirs || mismatch.Mine != signature {
			return fmt.Errorf("%v does not say who differs", mismatch)
		}
		return nil
	})
}

func TestFailureEndsTheWait(t *testing.T) {
	for _, state := range []job.State{job.Left, job.Exited, job.Failed} {
		mem := memory(t, 3, job.Options{Cores: 1, InProcess: true})
		together(t, mem, func(g *Group) error {
			if g.Me() == 2 {
				mem.Report(2, state, 0)
				return nil
			}
			g.Publish(1, nil)
			var failed *job.RankFailedError
			if err := g.WaitAll(t.Context()); !errors.As(err, &failed) || failed.Rank != 2 {
				return fmt.Errorf("%v, want the failure of rank 2", err)
			}
			return nil
		})
	}
}

func TestLeavingAfterTheRoundIsNoFailure(t *testing.T) {
	mem := memory(t, 4, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		if err := rounds(t.Context(), g, 50); err != nil {
			return err
		}
		mem.Report(g.Me(), job.Left, 0)
		return nil
	})
}

func TestBreakWakesEverybody(t *testing.T) {
	mem := memory(t, 4, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		if g.Me() == 3 {
			g.Break("Barrier", errors.New("had enough"))
			g.Break("Bcast", errors.New("too late to count"))
		} else {
			g.Publish(1, nil)
			if err := g.WaitAll(t.Context()); err == nil {
				return errors.New("the round succeeded")
			}
		}
		want := "test is broken since rank 3 gave up Barrier: had enough"
		if err := g.Broken(); err == nil || err.Error() != want {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	})
}

func TestLongTextsOfBreakAreCut(t *testing.T) {
	mem := memory(t, 1, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	g.Break(strings.Repeat("o", 1000), errors.New(strings.Repeat("c", 1000)))
	var broken *BrokenError
	if err := g.Broken(); !errors.As(err, &broken) || len(broken.Op) != 47 || len(broken.Cause) != 447 {
		t.Errorf("%+v", broken)
	}
}

func TestRetireReturnsAfterTheLastAccess(t *testing.T) {
	mem := memory(t, 5, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		if err := rounds(t.Context(), g, 20); err != nil {
			return err
		}
		if err := g.Retire(t.Context(), 2); err != nil {
			return err
		}
		if g.Me() == 2 {
			clear(mem.Extra()) // nobody may be looking any more
		}
		return nil
	})
}

func TestNewRefusesTheArea(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	cfg := Config{What: "test", Ranks: []int{0, 1}, Memory: mem, Waiter: waiting.New(mem, 0)}
	for name, area := range map[string][]byte{"short": mem.Extra()[:Size(2)-1], "misaligned": mem.Extra()[8:]} {
		cfg.Area = area
		if _, err := New(cfg); err == nil {
			t.Errorf("%s area was accepted", name)
		}
	}
}

func TestRoundsAllocateNothing(t *testing.T) {
	mem := memory(t, 1, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		g.Publish(1, nil)
		if err := g.WaitAll(ctx); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
