package collectives

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// layouts are hosts, and ranks on each.
var layouts = [][2]int{{2, 1}, {2, 2}, {3, 1}, {2, 3}, {3, 2}}

// eachLayout runs body on ranks spread over hosts.
func eachLayout(t *testing.T, body func(ctx context.Context, t *testing.T, comm *world.Comm)) {
	for _, l := range layouts {
		t.Run(fmt.Sprintf("%d hosts of %d ranks", l[0], l[1]), func(t *testing.T) {
			worldtest.AnywhereHosts(t, l[0], l[1], func(ctx context.Context, comm *world.Comm) { body(ctx, t, comm) })
		})
	}
}

func TestEveryWayGivesTheSameBetweenHosts(t *testing.T) {
	eachLayout(t, func(ctx context.Context, t *testing.T, comm *world.Comm) {
		x := &trial{t: t, ctx: ctx, comm: comm, agree: rand.New(rand.NewPCG(uint64(comm.Size()), 7))}
		x.own = rand.New(rand.NewPCG(uint64(comm.Size()), uint64(1+comm.Rank())))
		for range 60 {
			kinds[x.agree.IntN(len(kinds))](x)
		}
	})
}

// Many megabytes: rings go round, and both directions are full at once.
func TestLongVectorsBetweenHosts(t *testing.T) {
	eachLayout(t, func(ctx context.Context, t *testing.T, comm *world.Comm) {
		in, out := make([]uint64, 700_001), make([]uint64, 700_001)
		for i := range in {
			in[i] = uint64(i * (comm.Rank() + 1))
		}
		if err := Allreduce(ctx, comm, in, out, Sum); err != nil {
			t.Error(err)
			return
		}
		factor := uint64(comm.Size() * (comm.Size() + 1) / 2)
		for i, v := range out {
			if v != uint64(i)*factor {
				t.Errorf("rank %d: element %d is %d, want %d", comm.Rank(), i, v, uint64(i)*factor)
				return
			}
		}
		if err := Bcast(ctx, comm, comm.Size()-1, in); err != nil {
			t.Error(err)
			return
		}
		for i, v := range in {
			if v != uint64(i*comm.Size()) {
				t.Errorf("rank %d: element %d is %d after Bcast", comm.Rank(), i, v)
				return
			}
		}
	})
}

func FuzzBetweenHosts(f *testing.F) {
	f.Add(make([]byte, introductionSize))
	f.Add(make([]byte, tellingSize))
	f.Fuzz(func(t *testing.T, msg []byte) {
		if i, err := decodeIntroduction(msg, 1<<20); err == nil {
			again := make([]byte, introductionSize)
			if i.encode(again); string(again) != string(msg) {
				t.Errorf("%x became %x", msg, again)
			}
		}
		if told, err := decodeTelling(msg); err == nil {
			again := make([]byte, tellingSize)
			if told.encode(again); string(again) != string(msg) {
				t.Errorf("%x became %x", msg, again)
			}
		}
	})
}

// Links are given back with their communicator.
func TestFreeClosesLinks(t *testing.T) {
	worldtest.RunHosts(t, 2, 1, func(ctx context.Context, comm *world.Comm) {
		sub, err := comm.Dup(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		in, out := make([]int64, 5000), make([]int64, 5000)
		if err := Allreduce(ctx, sub, in, out, Sum); err != nil {
			t.Error(err)
		}
		e, ok := world.Of(sub).Collectives.(*engine)
		if !ok || e.links == nil {
			t.Fatal("a long Allreduce between hosts made no links")
		}
		if err := sub.Free(ctx); err != nil {
			t.Error(err)
		}
		if e.links != nil {
			t.Error("Free has not given up the links")
		}
	})
}
