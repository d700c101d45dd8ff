package world_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/transport"
)

// anyTwo are the shapes for what works between any two ranks.
var anyTwo = []shape{{1, 2}, {2, 1}, {2, 2}, {3, 1}}

// tell is a round in which everybody learns everybody's bytes.
func tell(ctx context.Context, comm *world.Comm, mine []byte) (all [][]byte, err error) {
	g := world.Of(comm).Group()
	g.Publish(98, mine)
	if err := g.WaitAll(ctx); err != nil {
		return nil, err
	}
	for m := range g.Size() {
		all = append(all, bytes.Clone(g.Payload(m)))
	}
	return all, nil
}

func TestPaths(t *testing.T) {
	onHosts(t, anyTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in := world.Of(comm)
		hosts, err := tell(ctx, comm, []byte(comm.Host()))
		if err != nil {
			t.Error(err)
			return
		}
		for m := range comm.Size() {
			want := worldtest.FarPath(comm.Path(m))
			if in.Local(m) {
				want = "shm"
			}
			if m == comm.Rank() {
				want = "self"
			}
			if comm.Path(m) != want || in.Local(m) != (in.Hosts()[m] == in.Hosts()[comm.Rank()]) {
				t.Errorf("rank %d reaches %d over %q, want %q; hosts %v", comm.Rank(), m, comm.Path(m), want, in.Hosts())
			}
			if in.Local(m) && string(hosts[m]) != comm.Host() {
				t.Errorf("ranks %d and %d share a host called %q and %q", comm.Rank(), m, comm.Host(), hosts[m])
			}
		}
	})
}

// Every rank sends many messages to every rank, itself included, which answers
// each of them from the handler.
func TestPortsOfAllRanks(t *testing.T) {
	const count = 200
	onHosts(t, anyTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in := world.Of(comm)
		in.Listen()
		var answers atomic.Int64
		answer := in.OpenPort(func(int, []byte) { answers.Add(1) })
		defer answer.Close()
		next := make([]atomic.Uint32, comm.Size())
		ports := make([]uint32, comm.Size()) // of the answers
		var known atomic.Bool
		question := in.OpenPort(func(from int, msg []byte) {
			m := memberOf(in, comm, from)
			if got := binary.LittleEndian.Uint32(msg); !known.Load() || got != next[m].Load() {
				t.Errorf("message %d of rank %d, want %d", got, m, next[m].Load())
			}
			next[m].Add(1)
			if err := in.Post(m, ports[m], msg); err != nil {
				t.Error(err)
			}
		})
		defer question.Close()
		numbers := binary.LittleEndian.AppendUint32(nil, question.Number())
		all, err := tell(ctx, comm, binary.LittleEndian.AppendUint32(numbers, answer.Number()))
		if err != nil {
			t.Error(err)
			return
		}
		for m := range all {
			ports[m] = binary.LittleEndian.Uint32(all[m][4:])
		}
		known.Store(true)
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		for k := range uint32(count) {
			for m := range all {
				msg := binary.LittleEndian.AppendUint32(make([]byte, 0, 1000), k)[:4+int(k)]
				if err := in.Send(ctx, m, binary.LittleEndian.Uint32(all[m]), msg); err != nil {
					t.Error(err)
					return
				}
			}
		}
		if err := in.Group().Until(ctx, reached{&answers, int64(count * comm.Size())}); err != nil {
			t.Errorf("%d answers: %v", answers.Load(), err)
		}
		if err := barrier(ctx, comm); err != nil { // the others have theirs
			t.Error(err)
		}
	})
}

func memberOf(in *world.Inside, comm *world.Comm, rank int) int {
	for m := range comm.Size() {
		if in.WorldRank(m) == rank {
			return m
		}
	}
	return -1
}

// reached is the condition that a counter has come so far.
type reached struct {
	counter *atomic.Int64
	want    int64
}

func (c reached) Ready() bool { return c.counter.Load() >= c.want }
func (c reached) Err() error  { return nil }

// Every rank puts into its place of every rank's memory, over the connection, and
// reads what the others have put there.
func TestOneSidedOverConnections(t *testing.T) {
	onHosts(t, anyTwo, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in := world.Of(comm)
		mem, err := arena.Alloc[uint64](comm.Arena(), comm.Size()+1)
		if err != nil {
			t.Error(err)
			return
		}
		region, err := in.Register(asBytes(mem))
		if err != nil {
			t.Error(err)
			return
		}
		all, err := tell(ctx, comm, encodeRemotes(region.Remote(), region.Far()))
		if err != nil {
			t.Error(err)
			return
		}
		for m := range all {
			near, far := decodeRemotes(all[m])
			remote := far
			if in.Local(m) {
				remote = near
			}
			if err := operate(ctx, in, m, remote, comm); err != nil {
				t.Errorf("rank %d to rank %d over %s: %v", comm.Rank(), m, comm.Path(m), err)
			}
		}
		if err := barrier(ctx, comm); err != nil {
			t.Error(err)
		}
		for m := range all {
			if mem[m] != uint64(100+m) {
				t.Errorf("rank %d: %d in the place of rank %d", comm.Rank(), mem[m], m)
			}
		}
		if mem[comm.Size()] != uint64(comm.Size()) {
			t.Errorf("rank %d: %d was added, want %d", comm.Rank(), mem[comm.Size()], comm.Size())
		}
		if err := errors.Join(barrier(ctx, comm), region.Close()); err != nil {
			t.Error(err)
		}
	})
}

// operate puts, adds, and gets back what was put.
func operate(ctx context.Context, in *world.Inside, m int, at transport.Remote, comm *world.Comm) error {
	conn, err := in.Conn(ctx, m)
	if err != nil {
		return err
	}
	place, err := at.Slice(int64(8*comm.Rank()), 8)
	if err != nil {
		return err
	}
	if err := conn.Put(place, binary.NativeEndian.AppendUint64(nil, uint64(100+comm.Rank())), 0); err != nil {
		return err
	}
	if err := await(ctx, in, m, func(id transport.OpID) error { return conn.Flush(id) }); err != nil {
		return err
	}
	sum, err := at.Slice(int64(8*comm.Size()), 8)
	if err != nil {
		return err
	}
	if err := await(ctx, in, m, func(id transport.OpID) error { return conn.FetchAdd(sum, 1, new(uint64), id) }); err != nil {
		return err
	}
	got := make([]byte, 8)
	if err := await(ctx, in, m, func(id transport.OpID) error { return conn.Get(got, place, id) }); err != nil {
		return err
	}
	if v := binary.NativeEndian.Uint64(got); v != uint64(100+comm.Rank()) {
		return fmt.Errorf("%d came back", v)
	}
	return nil
}

func await(ctx context.Context, in *world.Inside, m int, begin func(transport.OpID) error) error {
	op := in.NewOp()
	if err := begin(op.ID()); err != nil {
		in.Drop(op)
		return err
	}
	return in.Await(ctx, m, op)
}

func encodeRemotes(all ...transport.Remote) (b []byte) {
	for _, r := range all {
		b = binary.LittleEndian.AppendUint64(b, r.Key)
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Offset))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.Len))
	}
	return b
}

func decodeRemotes(b []byte) (near, far transport.Remote) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	remote := func(i int) transport.Remote {
		return transport.Remote{Key: word(i), Offset: int64(word(i + 1)), Len: int64(word(i + 2))}
	}
	return remote(0), remote(3)
}

func TestWhatIsElsewhereIsRefused(t *testing.T) {
	onHosts(t, []shape{{2, 1}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in, other := world.Of(comm), 1-comm.Rank()
		if in.Local(other) {
			return // under golaunch, on one host
		}
		_, at := in.At(other, arena.Extent{Key: 1}, 8)
		_, mapped := in.Map(other, transport.Remote{Key: 1, Len: 8})
		_, writer := in.Writer(other)
		for what, err := range map[string]error{"At": at, "Map": mapped, "Writer": writer} {
			if err == nil {
				t.Errorf("%s of a rank on another host succeeded", what)
			}
		}
	})
}

// An operation on a rank that fails ends with its failure.
func TestOperationsOnAFailedRank(t *testing.T) {
	inside(t, []shape{{2, 1}, {2, 2}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
		in, last := world.Of(comm), comm.Size()-1
		if comm.Rank() == last {
			if err := comm.Abort(3); err != nil {
				t.Error(err)
			}
			return
		}
		var failed *world.RankFailedError
		for {
			err := in.Send(ctx, last, 99, nil)
			if err == nil {
				continue
			}
			if !errors.As(err, &failed) || failed.Rank != last || !in.Local(last) && failed.Host == "" {
				t.Errorf("%v, want the failure of rank %d, with its host", err, last)
			}
			return
		}
	})
}

// A rank may leave as soon as a round is over for it: those on other hosts still
// get what it has sent.
func TestLeavingRightAfterARound(t *testing.T) {
	times := 30
	if testing.Short() {
		times = 3
	}
	for range times {
		inside(t, []shape{{2, 1}, {2, 2}, {3, 1}}, func(t *testing.T, ctx context.Context, comm *world.Comm) {
			if err := errors.Join(barrier(ctx, comm), comm.Leave()); err != nil {
				t.Errorf("rank %d: %v", comm.Rank(), err)
			}
		})
	}
}
