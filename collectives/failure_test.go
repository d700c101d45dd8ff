package collectives

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// A body is one rank's call.
type body func(ctx context.Context, comm *world.Comm) error

func barriers(ctx context.Context, comm *world.Comm) error { return Barrier(ctx, comm) }

func sums(n int) body {
	return func(ctx context.Context, comm *world.Comm) error {
		return Allreduce(ctx, comm, make([]float64, n), make([]float64, n), Sum)
	}
}

func bcasts(root, n int) body {
	return func(ctx context.Context, comm *world.Comm) error { return Bcast(ctx, comm, root, make([]byte, n)) }
}

// broken checks that a communicator is of no more use.
func broken(t *testing.T, ctx context.Context, comm *world.Comm) {
	t.Helper()
	failedOrBroken(t, comm, Barrier(ctx, comm))
}

// failedOrBroken: where a rank died, whoever is the first to see it breaks the
// communicator, and others may see either.
func failedOrBroken(t *testing.T, comm *world.Comm, err error) {
	t.Helper()
	var failed *world.RankFailedError
	var broken *world.BrokenError
	if !errors.As(err, &failed) && !errors.As(err, &broken) {
		t.Errorf("rank %d: %v, want a RankFailedError or a BrokenError", comm.Rank(), err)
	}
}

func TestMismatch(t *testing.T) {
	const large = 1000
	small8 := "Allreduce (Sum of float64) of 8 bytes"
	for _, c := range []struct {
		name        string
		one, others body
		onesCall    string
		othersCall  string
	}{
		{"operations", barriers, sums(1), "Barrier", small8},
		{"lengths", sums(2), sums(1), "Allreduce (Sum of float64) of 16 bytes", small8},
		{"small and large", sums(large), sums(1), "Allreduce (Sum of float64) of 8000 bytes", small8},
		{"large lengths", sums(large), sums(large + 1), "Allreduce (Sum of float64) of 8000 bytes", "Allreduce (Sum of float64) of 8008 bytes"},
		{"roots", bcasts(1, 4), bcasts(2, 4), "Bcast (uint8) of 4 bytes from root 1", "Bcast (uint8) of 4 bytes from root 2"},
		{"roots of large ones", bcasts(1, 9000), bcasts(2, 9000), "Bcast (uint8) of 9000 bytes from root 1", "Bcast (uint8) of 9000 bytes from root 2"},
		{"types", func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, make([]int64, 1), make([]int64, 1), Sum)
		}, sums(1), "Allreduce (Sum of int64) of 8 bytes", small8},
		{"reductions", func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, make([]float64, 1), make([]float64, 1), Max)
		}, sums(1), "Allreduce (Max of float64) of 8 bytes", small8},
		{"reduce and gather", func(ctx context.Context, comm *world.Comm) error {
			return Gather(ctx, comm, 0, make([]float64, 1), make([]float64, 3))
		}, func(ctx context.Context, comm *world.Comm) error {
			return Reduce(ctx, comm, 0, make([]float64, 1), make([]float64, 1), Min)
		}, "Gather (float64) of 8 bytes to root 0", "Reduce (Min of float64) of 8 bytes to root 0"},
		{"something else", func(ctx context.Context, comm *world.Comm) error {
			_, err := comm.Dup(ctx)
			return err
		}, barriers, "an operation that is no collective (signature 0x2)", "Barrier"},
	} {
		t.Run(c.name, func(t *testing.T) {
			worldtest.Anywhere(t, 3, func(ctx context.Context, comm *world.Comm) {
				mine, theirs, call := c.othersCall, c.onesCall, c.others
				if comm.Rank() == 1 {
					mine, theirs, call = theirs, mine, c.one
				}
				err := call(ctx, comm)
				if err == nil {
					t.Errorf("rank %d: no error", comm.Rank())
				}
				if c.name != "something else" || comm.Rank() != 1 {
					checkMismatch(t, comm, err, mine, theirs)
				}
				broken(t, ctx, comm)
			})
		})
	}
}

func checkMismatch(t *testing.T, comm *world.Comm, err error, mine, theirs string) {
	t.Helper()
	var m *MismatchError
	var broken *world.BrokenError
	if errors.As(err, &broken) && worldtest.Launched() { // another host was the first to see it, and says so
		says := strings.Contains(broken.Cause, mine) && strings.Contains(broken.Cause, theirs)
		if !says && !strings.Contains(broken.Cause, "takes part in another operation") { // so Dup says it
			t.Errorf("rank %d: %v; want %s here and %s there", comm.Rank(), err, mine, theirs)
		}
		return
	}
	if !errors.As(err, &m) {
		t.Errorf("rank %d: %v, want a MismatchError", comm.Rank(), err)
		return
	}
	if m.Mine != mine || m.Theirs != theirs || (comm.Rank() == 1) == (m.Rank == 1) {
		t.Errorf("rank %d: %v; want %s here and %s there", comm.Rank(), err, mine, theirs)
	}
	for _, part := range []string{fmt.Sprintf("rank %d: ", comm.Rank()), `communicator "world`, mine, theirs} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %s", err, part)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	buf := make([]int32, 8)
	type withPointer struct {
		N int
		P *int
	}
	for _, c := range []struct {
		name string
		call body
		want string
	}{
		{"out too short", func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, make([]int32, 4), make([]int32, 3), Sum)
		}, "out has 3 elements, want 4"},
		{"out too long for Allgather", func(ctx context.Context, comm *world.Comm) error {
			return Allgather(ctx, comm, make([]int32, 4), make([]int32, 9))
		}, "out has 9 elements, want 8"},
		{"out too short for Gather", func(ctx context.Context, comm *world.Comm) error {
			return Gather(ctx, comm, 1, make([]int32, 4), make([]int32, 4))
		}, "out has 4 elements, want 8"},
		{"no root", func(ctx context.Context, comm *world.Comm) error { return Bcast(ctx, comm, 2, buf) }, "root 2 is outside 0..1"},
		{"negative root", func(ctx context.Context, comm *world.Comm) error {
			return Reduce(ctx, comm, -1, buf, buf, Sum)
		}, "root -1 is outside 0..1"},
		{"no reduction", func(ctx context.Context, comm *world.Comm) error { return Allreduce(ctx, comm, buf, buf, Op(77)) }, "Op(77) is not a reduction operation"},
		{"maximum of complex numbers", func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, make([]complex64, 1), make([]complex64, 1), Max)
		}, "Max is not defined for complex64"},
		{"bits of floating-point numbers", func(ctx context.Context, comm *world.Comm) error {
			return Reduce(ctx, comm, 0, make([]float32, 1), make([]float32, 1), And)
		}, "And is not defined for float32"},
		{"overlap", func(ctx context.Context, comm *world.Comm) error {
			return Allreduce(ctx, comm, buf[:4], buf[1:5], Sum)
		}, "in starts -4 bytes into out (16 bytes): they must be apart, or in must start at byte 0"},
		{"in another's place", func(ctx context.Context, comm *world.Comm) error {
			return Allgather(ctx, comm, buf[:4], buf)
		}, "in starts 0 bytes into out (32 bytes): they must be apart, or in must start at byte 16"},
		{"pointers", func(ctx context.Context, comm *world.Comm) error {
			return Bcast(ctx, comm, 0, make([]withPointer, 1))
		}, "field P: elements of type *int hold pointers"},
		{"pointers in arrays", func(ctx context.Context, comm *world.Comm) error {
			return Allgather(ctx, comm, make([][2]string, 1), make([][2]string, 2))
		}, "elements of type string hold pointers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			worldtest.Anywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
				if comm.Rank() == 0 {
					var b *world.BrokenError
					if err := Barrier(ctx, comm); !errors.As(err, &b) || b.Rank != 1 || !strings.Contains(b.Cause, c.want) {
						t.Errorf("rank 0: %v, want a BrokenError by rank 1 because %s", err, c.want)
					}
					return
				}
				if err := c.call(ctx, comm); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("rank 1: %v, want: %s", err, c.want)
				}
				broken(t, ctx, comm)
			})
		})
	}
}

func TestStructsWithoutPointersTravel(t *testing.T) {
	type point struct {
		X, Y float32
		Tag  [3]uint8
	}
	worldtest.Anywhere(t, 3, func(ctx context.Context, comm *world.Comm) {
		in := []point{{float32(comm.Rank()), 2, [3]uint8{1, 2, 3}}}
		out := make([]point, 3)
		if err := Allgather(ctx, comm, in, out); err != nil {
			t.Error(err)
		}
		for rank, p := range out {
			if p != (point{float32(rank), 2, [3]uint8{1, 2, 3}}) {
				t.Errorf("block %d is %v", rank, p)
			}
		}
	})
}

// calls of every kind and size, to be interrupted.
var interrupted = map[string]body{
	"barrier":         barriers,
	"small allreduce": sums(3),
	"large allreduce": sums(100000),
	"small bcast":     bcasts(0, 10),
	"large bcast":     bcasts(0, 100000),
	"large gather": func(ctx context.Context, comm *world.Comm) error {
		return Gather(ctx, comm, 0, make([]byte, 50000), make([]byte, 50000*comm.Size()))
	},
}

func TestDeathOfARankEndsTheOperation(t *testing.T) {
	for name, call := range interrupted {
		t.Run(name, func(t *testing.T) {
			worldtest.Run(t, 3, func(ctx context.Context, comm *world.Comm) {
				if comm.Rank() == 2 {
					if err := comm.Abort(7); err != nil {
						t.Error(err)
					}
					return
				}
				failedOrBroken(t, comm, call(ctx, comm))
				broken(t, ctx, comm)
			})
		})
	}
}

func TestCancellationEndsTheOperationEverywhere(t *testing.T) {
	for name, call := range interrupted {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{})
			worldtest.Run(t, 3, func(ctx context.Context, comm *world.Comm) {
				switch comm.Rank() {
				case 0:
					ctx, cancel := context.WithTimeoutCause(ctx, time.Millisecond, errors.New("tired of waiting"))
					defer cancel()
					if err := call(ctx, comm); err == nil || !strings.Contains(err.Error(), "tired of waiting") {
						t.Errorf("rank 0: %v, want the cause of the cancellation", err)
					}
					close(gone)
				case 1:
					brokenBy0(t, call(ctx, comm))
				case 2: // comes too late
					<-gone
					brokenBy0(t, call(ctx, comm))
				}
			})
		})
	}
}

func brokenBy0(t *testing.T, err error) {
	t.Helper()
	var b *world.BrokenError
	if !errors.As(err, &b) || b.Rank != 0 || b.Cause != "tired of waiting" {
		t.Errorf("%v, want a BrokenError by rank 0", err)
	}
}

func TestCancelledBefore(t *testing.T) {
	worldtest.Anywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 0 {
			dead, cancel := context.WithCancelCause(ctx)
			cancel(errors.New("tired of waiting"))
			if err := Barrier(dead, comm); err == nil || !strings.Contains(err.Error(), "tired of waiting") {
				t.Errorf("rank 0: %v", err)
			}
			return
		}
		brokenBy0(t, Barrier(ctx, comm))
	})
}

// A rank agrees to a large operation and then falls silent: the others are in the
// middle of their schedules.
func TestFailureInTheMiddleOfASchedule(t *testing.T) {
	for name, end := range map[string]func(*world.Comm, *engine, *call) error{
		"death": func(comm *world.Comm, _ *engine, _ *call) error { return comm.Abort(3) },
		"giving up": func(_ *world.Comm, e *engine, c *call) error {
			if err := e.leave(c, errors.New("tired of waiting")); err == nil {
				return errors.New("it did not fail")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			worldtest.Run(t, 4, func(ctx context.Context, comm *world.Comm) {
				const n = 1 << 20
				c := callOf[byte](callAllgather, 0, n)
				buf := make([]byte, n*comm.Size())
				if comm.Rank() != 1 {
					failedOrBroken(t, comm, Allgather(ctx, comm, buf[comm.Rank()*n:][:n], buf))
					broken(t, ctx, comm)
					return
				}
				e, err := enter(ctx, comm, &c)
				if err == nil {
					err = e.open(ctx, &c, buf[n:][:n], buf)
				}
				if err = errors.Join(err, end(comm, e, &c)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A rank whose part is done may leave while others still work on what it sent.
func TestLeavingAfterOnesPart(t *testing.T) {
	const ranks, n = 5, 40000
	for _, a := range schedule.Algorithms()[1:] {
		for root := range ranks {
			worldtest.Anywhere(t, ranks, func(ctx context.Context, comm *world.Comm) {
				c := call{what: callAllreduce, kind: reduce.Float64, bytes: n, width: 8, op: Sum}
				if a.Rooted() {
					c.root = root
				}
				e, err := enter(ctx, comm, &c)
				if err != nil {
					t.Errorf("%v, root %d: %v", a, root, err)
					return
				}
				if err = e.leave(&c, e.stream(ctx, &c, a, make([]byte, n), make([]byte, n*ranks))); err != nil {
					t.Errorf("%v, root %d: %v", a, root, err)
				}
			})
		}
	}
}

func TestSecondOperationAtOnce(t *testing.T) {
	failed := make(chan struct{})
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 1 {
			<-failed
			if err := Barrier(ctx, comm); err != nil {
				t.Errorf("rank 1: %v", err)
			}
			return
		}
		results := make(chan error, 2)
		for range 2 {
			go func() { results <- Barrier(ctx, comm) }()
		}
		const want = `rank 0: Barrier on communicator "world": a collective operation is under way on it (Barrier)`
		if err := <-results; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		close(failed)
		if err := <-results; err != nil {
			t.Errorf("the first one: %v", err)
		}
	})
}

func TestDupsDoNotDisturbEachOther(t *testing.T) {
	worldtest.Anywhere(t, 3, func(ctx context.Context, comm *world.Comm) {
		dup, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		results := make(chan error, 2)
		for _, c := range []*world.Comm{comm, dup} {
			go func() {
				for i := range 20 {
					if err := sums(1+3000*(i%2))(ctx, c); err != nil {
						results <- err
						return
					}
				}
				results <- nil
			}()
		}
		if err := errors.Join(<-results, <-results, dup.Free(ctx)); err != nil {
			t.Errorf("rank %d: %v", comm.Rank(), err)
		}
	})
}
