package collectives

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// The same random operations by every way there is: those that the operations choose
// from, and every schedule by force. All must agree with a serial reference, and so
// with each other. Values are small integers: exact in every type, in any order.

type (
	celsius float32 // a named type counts as the one under it
	count   int
)

// kinds are the element types, each as the trial of an operation on it.
var kinds = []func(*trial){
	operate[int8], operate[int16], operate[int32], operate[int64],
	operate[uint8], operate[uint16], operate[uint32], operate[uint64],
	operate[float32], operate[float64], operate[complex64], operate[complex128],
	operate[celsius], operate[count],
}

// lengths are in bytes: nothing, one element, both sides of what a slot holds,
// more than a piece, more than a chunk, more than a block of chunks for each part.
var lengths = []int{0, 16, 48, 4080, 4096, 4112, 5008, 20000, 40000, 150000}

// A trial is one operation, the same on every rank but for the buffers.
type trial struct {
	t     testing.TB
	ctx   context.Context
	comm  *world.Comm
	agree *rand.Rand // the same numbers on every rank
	own   *rand.Rand // this rank's
}

func TestEveryWayGivesTheSame(t *testing.T) {
	const trials = 120
	for n := 1; n <= 9; n++ {
		t.Run(fmt.Sprintf("%d ranks", n), func(t *testing.T) {
			worldtest.Anywhere(t, n, func(ctx context.Context, comm *world.Comm) {
				x := &trial{t: t, ctx: ctx, comm: comm, agree: rand.New(rand.NewPCG(uint64(n), 0))}
				x.own = rand.New(rand.NewPCG(uint64(n), uint64(1+comm.Rank())))
				engineOf(t, ctx, comm).part = 4096 // several blocks
				for range trials {
					kinds[x.agree.IntN(len(kinds))](x)
				}
			})
		})
	}
}

// operate is one trial with elements of type T.
func operate[T Number](x *trial) {
	what := collective(1 + x.agree.IntN(int(calls)-1))
	n := lengths[x.agree.IntN(len(lengths))] / sizeOf[T]()
	op := defined[T](x.agree)
	root := x.agree.IntN(x.comm.Size())
	forced := forcedWay(x.agree, what)
	inputs := inputsOf[T](x.agree, x.comm.Size(), n, op)
	want := reference(what, inputs, root, op)
	got, err := perform(x, what, forced, inputs[x.comm.Rank()], root, op)
	where := fmt.Sprintf("%v, forced %v: %d elements of %T, %v, root %d, rank %d of %d", what, forced, n, *new(T), op, root, x.comm.Rank(), x.comm.Size())
	if err != nil {
		x.t.Errorf("%s: %v", where, err)
		return
	}
	if receives(what, x.comm.Rank(), root) && !bytes.Equal(asBytes(got), asBytes(want)) {
		x.t.Errorf("%s: wrong result", where)
	}
}

func receives(what collective, rank, root int) bool {
	return what != callBarrier && (rank == root || what != callReduce && what != callGather)
}

func defined[T Number](r *rand.Rand) Op {
	for {
		op := reduce.Ops()[r.IntN(len(reduce.Ops()))]
		if reduce.Valid(reduce.KindOf[T](), op) == nil {
			return op
		}
	}
}

// forcedWay is an algorithm to be used whatever would be chosen, or none.
func forcedWay(r *rand.Rand, what collective) *schedule.Algorithm {
	ways := map[collective][]schedule.Algorithm{
		callBarrier:   {schedule.BarrierDissemination},
		callBcast:     {schedule.BcastBinomial, schedule.BcastChain},
		callReduce:    {schedule.ReduceBinomial, schedule.ReduceScatterGather},
		callAllreduce: {schedule.AllreduceRecursiveDoubling, schedule.AllreduceReduceScatterAllgather},
		callGather:    {schedule.GatherDirect},
		callAllgather: {schedule.AllgatherRing},
	}[what]
	i := r.IntN(2 * len(ways))
	if i >= len(ways) {
		return nil
	}
	return &ways[i]
}

// inputsOf are everybody's inputs. Products stay small: they have few factors but one.
func inputsOf[T Number](r *rand.Rand, ranks, n int, op Op) [][]T {
	all := make([][]T, ranks)
	for rank := range all {
		all[rank] = make([]T, n)
		for i := range all[rank] {
			all[rank][i] = small[T](r.IntN(8))
			if op == Prod && r.IntN(4) > 0 {
				all[rank][i] = small[T](1)
			}
		}
	}
	return all
}

// small is a number as an element.
func small[T Number](v int) T {
	var sum T
	for range v {
		sum += one[T]()
	}
	return sum
}

func one[T Number]() T { return 1 }

// reference does it serially.
func reference[T Number](what collective, inputs [][]T, root int, op Op) []T {
	var out []T
	switch what {
	case callBcast:
		return inputs[root]
	case callGather, callAllgather:
		for _, in := range inputs {
			out = append(out, in...)
		}
	case callReduce, callAllreduce:
		out = append(out, inputs[0]...)
		for _, in := range inputs[1:] {
			reduce.Slices(op, out, out, in)
		}
	}
	return out
}

// perform does it with this rank's buffers, which are of some kind, and gives the
// result.
func perform[T Number](x *trial, what collective, forced *schedule.Algorithm, input []T, root int, op Op) ([]T, error) {
	b := buffersOf(x, what, input)
	defer b.free()
	if forced != nil {
		if err := b.force(what, *forced, root, op); err != nil {
			return nil, err
		}
		return append([]T(nil), b.out...), nil
	}
	err := b.call(what, root, op)
	return append([]T(nil), b.out...), err
}

// buffers are one rank's: heap or arena, apart or the same.
type buffers[T Number] struct {
	*trial
	in, out []T
	frees   []func() error
}

func buffersOf[T Number](x *trial, what collective, input []T) *buffers[T] {
	b := &buffers[T]{trial: x}
	blocks, mine := 1, 0
	if what == callGather || what == callAllgather {
		blocks, mine = x.comm.Size(), x.comm.Rank()*len(input)
	}
	b.out = b.alloc(len(input) * blocks)
	if x.own.IntN(2) == 0 || what == callBcast {
		b.in = b.out[mine:][:len(input)] // in place
	} else {
		b.in = b.alloc(len(input))
	}
	copy(b.in, input)
	return b
}

// alloc gives memory from the arena, more often than not: all ranks must have it
// for some ways to be taken.
func (b *buffers[T]) alloc(n int) []T {
	if b.own.IntN(8) == 0 || n == 0 {
		return make([]T, n)
	}
	mem, err := arena.Alloc[T](b.comm.Arena(), n)
	if err != nil {
		b.t.Fatal(err)
	}
	b.frees = append(b.frees, func() error { return arena.Free(b.comm.Arena(), mem) })
	return mem
}

func (b *buffers[T]) free() {
	for _, free := range b.frees {
		if err := free(); err != nil {
			b.t.Error(err)
		}
	}
}

func (b *buffers[T]) call(what collective, root int, op Op) error {
	switch what {
	case callBarrier:
		return Barrier(b.ctx, b.comm)
	case callBcast:
		return Bcast(b.ctx, b.comm, root, b.out)
	case callReduce:
		return Reduce(b.ctx, b.comm, root, b.in, b.out, op)
	case callAllreduce:
		return Allreduce(b.ctx, b.comm, b.in, b.out, op)
	case callGather:
		return Gather(b.ctx, b.comm, root, b.in, b.out)
	default:
		return Allgather(b.ctx, b.comm, b.in, b.out)
	}
}

// force carries out a schedule, whatever the operation would do.
func (b *buffers[T]) force(what collective, a schedule.Algorithm, root int, op Op) error {
	c := call{what: what, kind: reduce.KindOf[T](), root: root, bytes: len(b.in) * sizeOf[T](), width: sizeOf[T]()}
	if what == callReduce || what == callAllreduce {
		c.op = op
	}
	e, err := enter(b.ctx, b.comm, &c)
	if err != nil {
		return err
	}
	if !a.Rooted() {
		c.root = 0
	}
	if what == callBarrier {
		return e.leave(&c, e.carryOut(b.ctx, schedule.Plan{Algorithm: a, Size: e.size}, data{width: 1}))
	}
	return e.leave(&c, e.stream(b.ctx, &c, a, asBytes(b.in), asBytes(b.out)))
}
