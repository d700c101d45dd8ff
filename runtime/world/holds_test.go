package world_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/transport"
)

// Free, reuse by another region, late remote write: the stale key is refused by the
// target, over TCP as in shared memory, and the memory's new owner sees nothing of it.
func TestStaleKeyIsRefused(t *testing.T) {
	onHosts(t, anyTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in, last := world.Of(comm), comm.Size()-1
		if slices.ContainsFunc([]int{0, last}, func(m int) bool { return comm.Path(m) == "verbs" }) {
			return // the arena is registered: far is not stale. TestFreeReuseLateRemoteWrite of package window
		}
		mem, region, err := lend(comm, nil)
		if err != nil {
			t.Error(err)
			return
		}
		all, err := tell(ctx, comm, encodeRemotes(region.Remote(), region.Far()))
		if err != nil {
			t.Error(err)
			return
		}
		near, far := decodeRemotes(all[0])
		stale := far
		if in.Local(0) {
			stale = near
		}
		late := slices.Repeat([]byte{0xff}, int(stale.Len))
		if comm.Rank() == last {
			if err := putAndFlush(ctx, in, 0, stale, make([]byte, len(late))); err != nil {
				t.Errorf("while it is open: %v", err)
			}
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		again, second := mem, region
		if comm.Rank() == 0 {
			if again, second, err = lend(comm, func() error { return errors.Join(region.Close(), arena.Free(comm.Arena(), mem)) }); err != nil {
				t.Error(err)
				return
			}
			if &again[0] != &mem[0] {
				t.Error("the memory is not used again: the test shows nothing")
			}
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		if comm.Rank() == last {
			if err := putAndFlush(ctx, in, 0, stale, late); !errors.Is(err, transport.ErrKey) {
				t.Errorf("a late write over %s: %v, want %v", comm.Path(0), err, transport.ErrKey)
			}
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		if slices.Contains(again, 0xff) {
			t.Errorf("rank %d: a late write shows", comm.Rank())
		}
		if err := errors.Join(second.Close(), arena.Free(comm.Arena(), again)); err != nil {
			t.Error(err)
		}
	})
}

// lend allocates and registers memory, after whatever.
func lend(comm *world.Comm, after func() error) ([]byte, *world.Region, error) {
	if after != nil {
		if err := after(); err != nil {
			return nil, nil, err
		}
	}
	mem, err := arena.Alloc[byte](comm.Arena(), 100_000)
	if err != nil {
		return nil, nil, err
	}
	region, err := world.Of(comm).Register(mem)
	return mem, region, err
}

func putAndFlush(ctx context.Context, in *world.Inside, m int, to transport.Remote, src []byte) error {
	conn, err := in.Conn(ctx, m)
	if err != nil {
		return err
	}
	if err := conn.Put(to, src, 0); err != nil {
		return err
	}
	return await(ctx, in, m, func(id transport.OpID) error { return conn.Flush(id) })
}

// Confirming to many ranks connects to none of them, and what they are not told of
// stays held until this rank has left.
func TestManyRanksAreNotConnected(t *testing.T) {
	const ranks = 40
	worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		memory := comm.Arena()
		mem, err := arena.Alloc[byte](memory, 4096)
		if err != nil {
			t.Error(err)
			return
		}
		before := memory.Usage()
		if err := arena.FreeUnder(memory, mem, world.Of(comm).Forsake(1)); err != nil {
			t.Error(err)
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		if u := memory.Usage(); u.Quarantined != 4096 || u.InUse >= before.InUse {
			t.Errorf("rank %d: %+v, before %+v", comm.Rank(), u, before)
		}
	})
}
