package world_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// everywhere runs a body on ranks of one host and of several.
func everywhere(t *testing.T, n int, body func(ctx context.Context, comm *world.Comm)) {
	t.Run("one host", func(t *testing.T) { worldtest.Anywhere(t, n, body) })
	if worldtest.Launched() { // whose hosts they are
		return
	}
	t.Run("own hosts", func(t *testing.T) { worldtest.AnywhereHosts(t, n, 1, body) })
	if n%2 == 0 {
		t.Run("two hosts", func(t *testing.T) { worldtest.AnywhereHosts(t, 2, n/2, body) })
	}
}

func sequence(n, from int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i*3 + from)
	}
	return s
}

func TestRing(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, comm *world.Comm) {
		next, before := (comm.Rank()+1)%comm.Size(), (comm.Rank()+comm.Size()-1)%comm.Size()
		for _, n := range []int{0, 1, 1000, 100_000, 1_000_000} {
			got := make([]int32, n+1)
			s, err := world.Sendrecv(ctx, comm, next, 5, sequence(n, comm.Rank()), before, world.AnyTag, got)
			if err != nil || s != (world.Status{Source: before, Tag: 5, Count: n}) || !slices.Equal(got[:n], sequence(n, before)) {
				t.Errorf("rank %d, %d elements: %+v, %v", comm.Rank(), n, s, err)
				return
			}
		}
	})
}

type point struct {
	X, Y float64
	Name [4]byte
}

func TestElementTypes(t *testing.T) {
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 0 {
			if err := world.Send(ctx, comm, 1, 1, []point{{1, 2, [4]byte{'a'}}, {3, 4, [4]byte{'b'}}}); err != nil {
				t.Error(err)
			}
			if err := world.Send(ctx, comm, 1, 1, []byte{1, 2, 3}); err != nil {
				t.Error(err)
			}
			for what, err := range map[string]error{
				"a ptr":                   world.Send(ctx, comm, 1, 1, []*int{nil}),
				"field Name: a string":    world.Send(ctx, comm, 1, 1, []struct{ Name string }{}),
				"which mean nothing to a": world.Send(ctx, comm, 1, 1, [][]int{}),
			} {
				if err == nil || !strings.Contains(err.Error(), what) {
					t.Errorf("%s: %v", what, err)
				}
			}
			return
		}
		got := make([]point, 3)
		s, err := world.Recv(ctx, comm, 0, 1, got)
		if err != nil || s.Count != 2 || got[1] != (point{3, 4, [4]byte{'b'}}) {
			t.Errorf("%+v, %v, %v", s, err, got)
		}
		if _, err := world.Recv(ctx, comm, 0, 1, make([]int16, 4)); err == nil || !strings.Contains(err.Error(), "3 bytes came, and elements have 2") {
			t.Errorf("half an element: %v", err)
		}
	})
}

// Communicators of the same ranks, also in another order, do not hear each other.
func TestMessagesStayInTheirCommunicator(t *testing.T) {
	everywhere(t, 4, func(ctx context.Context, comm *world.Comm) {
		twin, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		back, err := comm.Split(ctx, comm.Rank()%2, -comm.Rank())
		if err != nil {
			t.Error(err)
			return
		}
		comms := []*world.Comm{comm, twin, back}
		var requests []*world.Request
		got := make([][]int32, len(comms))
		for i := range comms { // posted in one order, sent in the other
			got[i] = make([]int32, 2000)
			r, err := world.IRecv(comms[i], world.AnySource, world.AnyTag, got[i])
			if err != nil {
				t.Error(err)
			}
			requests = append(requests, r)
		}
		for i := len(comms) - 1; i >= 0; i-- {
			c := comms[i]
			if err := world.Send(ctx, c, (c.Rank()+1)%c.Size(), i, sequence(2000, 10*i+c.Rank())); err != nil {
				t.Error(err)
			}
		}
		all, err := world.WaitAll(ctx, requests...)
		if err != nil {
			t.Error(err)
		}
		for i, c := range comms {
			before := (c.Rank() + c.Size() - 1) % c.Size()
			if all[i] != (world.Status{Source: before, Tag: i, Count: 2000}) || !slices.Equal(got[i], sequence(2000, 10*i+before)) {
				t.Errorf("rank %d, communicator %q: %+v", comm.Rank(), c.Name(), all[i])
			}
		}
		if err := errors.Join(twin.Free(ctx), back.Free(ctx)); err != nil {
			t.Error(err)
		}
		if err := world.Send(ctx, twin, 0, 0, []byte{1}); err == nil {
			t.Error("a Send on a communicator that was freed succeeded")
		}
	})
}

func TestArenaBuffers(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
		mem, err := arena.Alloc[int32](comm.Arena(), 300_000)
		if err != nil {
			t.Error(err)
			return
		}
		if comm.Rank() == 0 {
			copy(mem, sequence(len(mem), 1))
			err = world.Send(ctx, comm, 1, 0, mem)
		} else {
			_, err = world.Recv(ctx, comm, 0, 0, mem)
			if !slices.Equal(mem, sequence(len(mem), 1)) {
				t.Error("other elements came")
			}
		}
		if err := errors.Join(err, arena.Free(comm.Arena(), mem)); err != nil {
			t.Error(err)
		}
	})
}

// A receive that was posted goes on while its rank waits for something else.
func TestMessagesGoOnDuringABarrier(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
		buf := sequence(1_000_000, 7)
		if comm.Rank() == 0 {
			if err := errors.Join(world.Send(ctx, comm, 1, 0, buf), barrier(ctx, comm)); err != nil {
				t.Error(err)
			}
			return
		}
		clear(buf)
		r, err := world.IRecv(comm, 0, 0, buf)
		if err != nil {
			t.Error(err)
			return
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		if s, err := r.Wait(ctx); err != nil || s.Count != len(buf) || !slices.Equal(buf, sequence(len(buf), 7)) {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestReceiveFromARankThatEnds(t *testing.T) {
	worldtest.Alone(t)
	for how, leave := range map[string]func(*world.Comm) error{"left": (*world.Comm).Leave, "died": func(c *world.Comm) error { return c.Abort(3) }} {
		t.Run(how, func(t *testing.T) {
			everywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
				if comm.Rank() == 1 {
					err := world.Send(ctx, comm, 0, 1, []int32{4})
					if err := errors.Join(err, leave(comm)); err != nil {
						t.Error(err)
					}
					return
				}
				buf := make([]int32, 5000)
				if how == "left" { // what it had sent comes first
					if s, err := world.Recv(ctx, comm, 1, 1, buf); err != nil || s.Count != 1 || buf[0] != 4 {
						t.Errorf("the last message: %+v, %v", s, err)
					}
				}
				for _, source := range []int{1, world.AnySource} {
					var failed *world.RankFailedError
					if _, err := world.Recv(ctx, comm, source, 2, buf); !errors.As(err, &failed) || failed.Rank != 1 {
						t.Errorf("from %d: %v", source, err)
					}
				}
				var failed *world.RankFailedError
				if err := world.Send(ctx, comm, 1, 2, buf); !errors.As(err, &failed) {
					t.Errorf("to it: %v", err)
				}
			})
		})
	}
}

func TestTruncatedMessageNamesBothLengths(t *testing.T) {
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() == 0 {
			if err := world.Send(ctx, comm, 1, 6, sequence(3, 0)); err != nil {
				t.Error(err)
			}
			return
		}
		buf := make([]int32, 2)
		s, err := world.Recv(ctx, comm, world.AnySource, 6, buf)
		const want = "message of 12 bytes from rank 0 with tag 6 does not fit in a buffer of 8 bytes"
		if err == nil || !strings.Contains(err.Error(), want) || s.Count != 2 || !slices.Equal(buf, sequence(2, 0)) {
			t.Errorf("%+v, %v, %v", s, err, buf)
		}
	})
}

func TestManyRanksAnySource(t *testing.T) {
	const n, each = 6, 40
	everywhere(t, n, func(ctx context.Context, comm *world.Comm) {
		if comm.Rank() > 0 {
			for k := range each {
				if err := world.Send(ctx, comm, 0, k%2, []int32{int32(k)}); err != nil {
					t.Error(err)
				}
			}
			return
		}
		var next [n][2]int32
		for range each * (n - 1) {
			var buf [1]int32
			s, err := world.Recv(ctx, comm, world.AnySource, world.AnyTag, buf[:])
			if err != nil {
				t.Error(err)
				return
			}
			if want := 2*next[s.Source][s.Tag] + int32(s.Tag); buf[0] != want {
				t.Error(fmt.Errorf("rank %d, tag %d: %d, want %d", s.Source, s.Tag, buf[0], want))
			}
			next[s.Source][s.Tag]++
		}
	})
}

// Several messages may come in one poll: what follows the one that a Recv looks for
// must not wait for that Recv.
func TestBurstsOfMessages(t *testing.T) {
	const n = 5000
	everywhere(t, 2, func(ctx context.Context, comm *world.Comm) {
		buf := []int32{0}
		for k := range int32(n) {
			if comm.Rank() == 1 {
				buf[0] = k
				if err := world.Send(ctx, comm, 0, 0, buf); err != nil {
					t.Error(err)
					return
				}
				continue
			}
			if _, err := world.Recv(ctx, comm, world.AnySource, world.AnyTag, buf); err != nil || buf[0] != k {
				t.Errorf("message %d: %d, %v", k, buf[0], err)
				return
			}
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
	})
}
