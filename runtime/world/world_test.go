package world_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/transport"
)

// barrier is a round of the communicator's group.
func barrier(ctx context.Context, comm *world.Comm) error {
	g := world.Of(comm).Group()
	g.Publish(99, nil)
	return g.WaitAll(ctx)
}

// A shape is hosts, and ranks on each.
type shape [2]int

var (
	small  = []shape{{1, 3}, {2, 1}, {2, 2}, {3, 1}}
	ofFour = []shape{{1, 4}, {2, 2}, {4, 1}}
	ofTwo  = []shape{{1, 2}, {2, 1}}
)

// onHosts runs a rank program on worlds of several shapes, or as ranks of golaunch.
func onHosts(t *testing.T, shapes []shape, body func(t *testing.T, ctx context.Context, comm *world.Comm)) {
	t.Helper()
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(t *testing.T) {
			worldtest.AnywhereHosts(t, s[0], s[1], func(ctx context.Context, comm *world.Comm) { body(t, ctx, comm) })
		})
	}
}

// inside is onHosts for bodies that fail, leave, or share memory of the process.
func inside(t *testing.T, shapes []shape, body func(t *testing.T, ctx context.Context, comm *world.Comm)) {
	t.Helper()
	worldtest.Alone(t)
	onHosts(t, shapes, body)
}

func TestWorldHasItsRanks(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		seen := make([]bool, n)
		worldtest.Run(t, n, func(ctx context.Context, comm *world.Comm) {
			if comm.Size() != n || comm.Host() == "" || comm.Name() != "world" {
				t.Errorf("size %d, host %q", comm.Size(), comm.Host())
			}
			seen[comm.Rank()] = true
			if err := barrier(ctx, comm); err != nil {
				t.Error(err)
			}
		})
		if slices.Contains(seen, false) {
			t.Errorf("%d ranks: seen %v", n, seen)
		}
	}
}

func TestJoinWithoutGolaunchIsAWorldOfOne(t *testing.T) {
	worldtest.Alone(t)
	comm, err := world.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if comm.Rank() != 0 || comm.Size() != 1 || runtime.GOMAXPROCS(0) < 2 {
		t.Errorf("rank %d of %d on %d Ps", comm.Rank(), comm.Size(), runtime.GOMAXPROCS(0))
	}
	if err := comm.Leave(); err != nil {
		t.Error(err)
	}
	if err := comm.Leave(); err == nil {
		t.Error("the second Leave succeeded")
	}
}

func TestJoinRefusesAFalseEnvironment(t *testing.T) {
	worldtest.Alone(t)
	t.Setenv("GOLAUNCH_SOCKET", "1000")
	t.Setenv("GOLAUNCH_RANK", "3")
	if comm, err := world.Join(t.Context()); err == nil {
		comm.Leave()
		t.Error("an environment without a socket was believed")
	}
}

func TestSplit(t *testing.T) {
	onHosts(t, append(small, shape{1, 7}, shape{2, 4}), func(t *testing.T, ctx context.Context, comm *world.Comm) {
		n := comm.Size()
		// Odd and even ranks, each in descending order.
		sub, err := comm.Split(ctx, comm.Rank()%2, -comm.Rank())
		if err != nil {
			t.Error(err)
			return
		}
		var want []int
		for r := n - 1; r >= 0; r-- {
			if r%2 == comm.Rank()%2 {
				want = append(want, world.Of(comm).WorldRank(r))
			}
		}
		var got []int
		for m := range sub.Size() {
			got = append(got, world.Of(sub).WorldRank(m))
		}
		if !slices.Equal(got, want) || got[sub.Rank()] != world.Of(comm).Rank() {
			t.Errorf("rank %d: members %v, own rank %d; want %v", comm.Rank(), got, sub.Rank(), want)
		}
		if err := errors.Join(barrier(ctx, sub), sub.Free(ctx)); err != nil {
			t.Error(err)
		}
	})
}

func TestSplitUndefined(t *testing.T) {
	onHosts(t, ofFour, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		color := 5
		if comm.Rank() == 2 {
			color = world.Undefined
		}
		sub, err := comm.Split(ctx, color, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if (sub == nil) != (comm.Rank() == 2) {
			t.Errorf("rank %d: communicator %v", comm.Rank(), sub)
		}
		if sub != nil && sub.Size() != 3 {
			t.Errorf("rank %d: %d members", comm.Rank(), sub.Size())
		}
	})
}

func TestSplitOfSplitAndDup(t *testing.T) {
	onHosts(t, ofFour, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		half, err := comm.Split(ctx, comm.Rank()/2, 0)
		if err != nil {
			t.Error(err)
			return
		}
		twin, err := half.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if twin.Size() != 2 || twin.Rank() != comm.Rank()%2 || twin.Name() != fmt.Sprintf("%s/%d/dup", comm.Name(), comm.Rank()/2) {
			t.Errorf("%q: rank %d of %d", twin.Name(), twin.Rank(), twin.Size())
		}
		for range 100 {
			if err := errors.Join(barrier(ctx, twin), barrier(ctx, half), barrier(ctx, comm)); err != nil {
				t.Error(err)
				return
			}
		}
		if err := errors.Join(twin.Free(ctx), half.Free(ctx)); err != nil {
			t.Error(err)
		}
	})
}

func TestSplitAndFreeLeaveNothingBehind(t *testing.T) {
	onHosts(t, small, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		before := comm.Arena().Usage().InUse
		for range 200 {
			sub, err := comm.Dup(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			in, next := world.Of(sub), (sub.Rank()+1)%sub.Size()
			if _, err := in.Writer(next); (err == nil) != in.Local(next) {
				t.Error(err)
			}
			if err := sub.Free(ctx); err != nil {
				t.Error(err)
				return
			}
		}
		if after := comm.Arena().Usage().InUse; after != before {
			t.Errorf("rank %d: %d bytes of the arena are in use, %d before", comm.Rank(), after, before)
		}
	})
}

func TestPipesReachTheRightRank(t *testing.T) {
	onHosts(t, append(small, shape{1, 5}), func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in, n := world.Of(comm), comm.Size()
		for peer := range n {
			if !in.Local(peer) {
				continue
			}
			w, err := in.Writer(peer)
			if err != nil {
				t.Error(err)
				return
			}
			w.Write([]byte{byte(10*comm.Rank() + peer)})
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		for peer := range n {
			if !in.Local(peer) {
				continue
			}
			r, err := in.Reader(peer)
			if err != nil || r == nil {
				t.Errorf("from rank %d: %v, %v", peer, r, err)
				return
			}
			if got := r.Peek(1); len(got) != 1 || got[0] != byte(10*peer+comm.Rank()) {
				t.Errorf("rank %d got %v from %d", comm.Rank(), got, peer)
			}
		}
	})
}

func TestRegisteredMemoryIsMapped(t *testing.T) {
	const n = 3
	remotes := make([]transport.Remote, n) // ordered by the barriers
	worldtest.Run(t, n, func(ctx context.Context, comm *world.Comm) {
		in := world.Of(comm)
		mine, err := arena.Alloc[byte](comm.Arena(), n)
		if err != nil {
			t.Error(err)
			return
		}
		region, err := in.Register(mine)
		if err != nil {
			t.Error(err)
			return
		}
		remotes[comm.Rank()] = region.Remote()
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		for peer := range n {
			mem, err := in.Map(peer, remotes[peer])
			if err != nil {
				t.Error(err)
				return
			}
			mem[comm.Rank()] = byte(1 + comm.Rank())
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		if !slices.Equal(mine, []byte{1, 2, 3}) {
			t.Errorf("rank %d: %v", comm.Rank(), mine)
		}
		if err := region.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOverlappingCollectivesAreAnError(t *testing.T) {
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		if err := world.Of(comm).Enter(world.OpAllreduce); err != nil {
			t.Error(err)
		}
		_, err := comm.Dup(ctx)
		if err == nil || !strings.Contains(err.Error(), `rank 0: Dup on communicator "world"`) || !strings.Contains(err.Error(), "Allreduce") {
			t.Errorf("%v, want an error that names both operations", err)
		}
		world.Of(comm).Exit()
		if _, err := comm.Dup(ctx); err != nil {
			t.Error(err)
		}
	})
}

func TestFailedRankBreaksCollectives(t *testing.T) {
	inside(t, []shape{{1, 3}, {3, 1}, {2, 2}, {2, 3}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 1 {
			if err := comm.Abort(7); err != nil {
				t.Error(err)
			}
			return
		}
		_, err := comm.Dup(ctx)
		var failed *world.RankFailedError
		var broken *world.BrokenError
		if !(errors.As(err, &failed) && failed.Rank == 1) && !errors.As(err, &broken) {
			t.Errorf("%v, want the failure of rank 1 or what it broke", err)
		}
		if _, err := comm.Dup(ctx); !errors.As(err, &broken) {
			t.Errorf("afterwards: %v, want a BrokenError", err)
		}
	})
}

func TestCancelledSplitBreaksTheCommunicator(t *testing.T) {
	onHosts(t, []shape{{1, 3}, {3, 1}, {2, 2}, {2, 3}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 2 { // never takes part
			for world.Of(comm).Group().Broken() == nil && ctx.Err() == nil {
				runtime.Gosched()
			}
			return
		}
		mine, cancel := context.WithCancelCause(ctx)
		if comm.Rank() == 0 {
			cancel(errors.New("the user lost patience"))
		}
		defer cancel(nil)
		_, err := comm.Split(mine, 0, 0)
		if err == nil || !strings.Contains(err.Error(), "the user lost patience") {
			t.Errorf("rank %d: %v, want the cause of the cancellation", comm.Rank(), err)
		}
	})
}

// Whoever gets a communicator from Dup has company on it: a member whose Dup was
// cancelled must not leave the others with a child on which they wait for ever.
func TestCancelledDupLeavesNobodyWaiting(t *testing.T) {
	for range 100 {
		onHosts(t, []shape{{1, 2}, {2, 1}, {2, 2}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
			mine, cancel := context.WithCancel(ctx)
			defer cancel()
			if comm.Rank() == 1 {
				cancel()
			}
			sub, err := comm.Dup(mine)
			if err != nil {
				return
			}
			limited, stop := context.WithTimeout(ctx, 10*time.Second)
			defer stop()
			if err := barrier(limited, sub); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("rank %d waits for ever: %v", comm.Rank(), err)
			}
		})
	}
}

func TestFreeDuringACollective(t *testing.T) {
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		sub, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if err := world.Of(sub).Enter(world.OpAllreduce); err != nil {
			t.Error(err)
		}
		if err := sub.Free(ctx); err == nil || !strings.Contains(err.Error(), "Allreduce") {
			t.Errorf("%v, want an error that names the operation under way", err)
		}
		world.Of(sub).Exit()
		if err := sub.Free(ctx); err != nil {
			t.Error(err)
		}
		if err := sub.Free(ctx); err == nil {
			t.Error("the second Free succeeded")
		}
	})
}

func TestFreeOfABrokenCommunicator(t *testing.T) {
	onHosts(t, ofTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		sub, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		world.Of(sub).Fail(world.OpBarrier, errors.New("had enough"))
		var broken *world.BrokenError
		if err := sub.Free(ctx); !errors.As(err, &broken) {
			t.Errorf("%v, want a BrokenError", err)
		}
	})
}

func TestEverythingAfterLeaveIsAnError(t *testing.T) {
	worldtest.Run(t, 1, func(ctx context.Context, comm *world.Comm) {
		sub, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if err := comm.Leave(); err != nil {
			t.Error(err)
		}
		_, dup := comm.Dup(ctx)
		_, split := sub.Split(ctx, 0, 0)
		for name, err := range map[string]error{
			"Abort": comm.Abort(1), "Free": sub.Free(ctx), "Dup": dup, "Split": split, "Leave": comm.Leave(),
		} {
			if err == nil || !strings.Contains(err.Error(), "left") {
				t.Errorf("%s: %v, want an error that says so", name, err)
			}
		}
	})
}

func TestInProcessFailureLeavesNothing(t *testing.T) {
	worldtest.Alone(t)
	files, maps, _ := footprint(t)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	few := old
	few.Cur = uint64(files + 6)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	_, err := world.InProcess(8)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Error("eight ranks fit into six descriptors")
	}
	if f, m, _ := footprint(t); f > files || m > maps {
		t.Errorf("%d files and %d mappings, %d and %d before", f, m, files, maps)
	}
}

func TestPanickingRankFailsOthers(t *testing.T) {
	worldtest.Alone(t)
	for _, s := range ofTwo {
		panicking(t, s)
	}
}

func panicking(t *testing.T, s shape) {
	inner := &recorder{TB: t}
	worldtest.RunHosts(inner, s[0], s[1], func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 1 {
			panic("out of cheese")
		}
		var failed *world.RankFailedError
		if err := barrier(ctx, comm); !errors.As(err, &failed) {
			t.Errorf("%v, want a RankFailedError", err)
		}
	})
	if !strings.Contains(inner.said, "rank 1 panicked: out of cheese") {
		t.Errorf("the test heard %q", inner.said)
	}
}

// recorder is a test that must fail.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Errorf(format string, args ...any) { r.said += fmt.Sprintf(format, args...) }

func TestAbortRefusesCodes(t *testing.T) {
	worldtest.Run(t, 1, func(_ context.Context, comm *world.Comm) {
		for _, code := range []int{-1, 0, 256} {
			if err := comm.Abort(code); err == nil {
				t.Errorf("code %d was accepted", code)
			}
		}
	})
}

func TestReachRefusesWhatIsNotThere(t *testing.T) {
	onHosts(t, ofTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in := world.Of(comm)
		mem, err := arena.Alloc[byte](comm.Arena(), 100)
		if err != nil {
			t.Error(err)
			return
		}
		at, ok := in.Locate(mem)
		if !ok {
			t.Error("memory of the arena was not found")
		}
		for _, wrong := range []arena.Extent{{Key: at.Key + 1000}, {Key: at.Key, Offset: -1}, {Key: at.Key, Offset: 1 << 50}} {
			if _, err := in.At(comm.Rank(), wrong, 100); err == nil {
				t.Errorf("%+v was reached", wrong)
			}
		}
		heap := make([]byte, 10)
		if _, ok := in.Locate(heap); ok {
			t.Error("heap memory was taken for the arena's")
		}
		if _, err := in.Register(heap); err == nil {
			t.Error("heap memory was registered")
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
	})
}

func TestWorldsLeaveNothingBehind(t *testing.T) {
	worldtest.Alone(t)
	for _, s := range ofFour {
		leaveNothing(t, s)
	}
}

func leaveNothing(t *testing.T, s shape) {
	one := func() {
		worldtest.RunHosts(t, s[0], s[1], func(ctx context.Context, comm *world.Comm) {
			if sub, err := comm.Dup(ctx); err != nil {
				t.Error(err)
			} else if err := sub.Free(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	one()
	files, maps, routines := footprint(t)
	for range 20 {
		one()
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		f, m, r := footprint(t)
		if f <= files && m <= maps+2 && r <= routines { // the runtime maps some for itself
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d files, %d mappings, %d goroutines; at first %d, %d, %d", f, m, r, files, maps, routines)
		}
		runtime.Gosched()
	}
}

func footprint(t *testing.T) (files, maps, routines int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds), strings.Count(string(table), "memfd:"), runtime.NumGoroutine()
}
