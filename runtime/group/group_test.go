package group

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/internal/spawntest"
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

// A member killed after its head and before it was counted has entered and not
// arrived: the others must hear of its failure.
func TestKilledBetweenHeadAndCount(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	g.Publish(7, nil)
	slotOf(g.area, 2, 1, 1).head.Store(g.head)
	mem.Report(1, job.Failed, -9)
	var failed *job.RankFailedError
	if err := g.WaitAll(deadline(t)); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("%v, want the failure of rank 1", err)
	}
}

// deadline is a context for what must not hang.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
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

// A member that is killed among its reasons has not named itself: the next one's
// break counts.
func TestKilledAmongItsReasons(t *testing.T) {
	mem := memory(t, 3, job.Options{Cores: 1, InProcess: true})
	g0, g1, g2 := member(t, mem, 0), member(t, mem, 1), member(t, mem, 2)
	g1.explain("Bcast", errors.New("I am"))
	mem.Report(1, job.Failed, -9)
	g0.Break("Allreduce", mem.Failure(1))
	var broken *BrokenError
	if err := g2.Until(deadline(t), waitsFor{g2, 0}); !errors.As(err, &broken) || broken.Rank != 0 || broken.Failed.Rank != 1 {
		t.Errorf("%v, want what rank 0 has to say of rank 1", err)
	}
}

// waitsFor is a wait for something that a member never does.
type waitsFor struct {
	*Group
	member int
}

func (w waitsFor) Ready() bool { return false }
func (w waitsFor) Err() error  { return w.Group.Err(w.member) }

func TestBrokenRightAfterLosingBreak(t *testing.T) {
	mem := memory(t, 8, job.Options{Cores: 1, InProcess: true})
	together(t, mem, func(g *Group) error {
		g.Break("Barrier", errors.New("all at once"))
		if g.Broken() == nil {
			return errors.New("not broken after Break")
		}
		return nil
	})
}

// A cause is the user's and may panic: the group must still be breakable.
func TestPanickingCause(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the cause did not panic")
			}
		}()
		g.Break("Barrier", panicking{})
	}()
	g.Break("Barrier", errors.New("second"))
	if g.Broken() == nil {
		t.Error("the group can no longer be broken")
	}
}

type panicking struct{}

func (panicking) Error() string { panic("an error whose text panics") }

func TestWildStoresIntoTheVerdict(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	for _, failed := range []int32{-1 << 31, -1, 3, 1<<31 - 1} {
		reasonsOf(g.area, 2, 1).failed = failed
		brokenBy(g.area).Store(1 << 60)
		if err := g.Broken(); err == nil {
			t.Error("not broken")
		}
	}
}

func TestRetireNamesAnExitedRank(t *testing.T) {
	mem := memory(t, 2, job.Options{Cores: 1, InProcess: true})
	g := member(t, mem, 0)
	mem.Report(1, job.Exited, 0)
	var failed *job.RankFailedError
	if err := g.Retire(deadline(t), 0); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("%v, want the failure of rank 1", err)
	}
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

// TestKilledMemberEndsEveryWait kills one of several processes somewhere in its
// rounds; a supervisor's part, reporting it, is played by the test. Nobody may
// hang.
func TestKilledMemberEndsEveryWait(t *testing.T) {
	if rank, ok := spawntest.Rank(); ok {
		mem, err := job.Map(os.NewFile(spawntest.FirstFile, "job"))
		if err != nil {
			t.Fatal(err)
		}
		var failed *job.RankFailedError
		if err := rounds(t.Context(), member(t, mem, rank), 1<<40); !errors.As(err, &failed) || failed.Rank != 1 {
			t.Fatalf("%v, want the failure of rank 1", err)
		}
		return
	}
	for _, cores := range []int{1, 8} {
		for attempt := range 10 {
			killOne(t, cores, attempt)
		}
	}
}

func killOne(t *testing.T, cores, attempt int) {
	mem := memory(t, 3, job.Options{Cores: cores})
	var ranks []*exec.Cmd
	for rank := range 3 {
		cmd := spawntest.Command(t, rank, nil, mem.File())
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, cmd)
	}
	// Different attempts meet it at different instructions.
	head := slotOf(mem.Extra(), 3, 1, 1).head
	for uint32(head.Load()>>32) < uint32(50+37*attempt) {
		runtime.Gosched()
	}
	if err := ranks[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ranks[1].Wait()
	mem.Report(1, job.Failed, -9)
	for _, rank := range []int{0, 2} {
		if err := ranks[rank].Wait(); err != nil {
			t.Errorf("%d cores, attempt %d, rank %d: %v\n%v", cores, attempt, rank, err, ranks[rank].Stdout)
		}
	}
}
