package window_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golaunch/golaunch/window"
)

// A random program of Puts, Gets and atomic operations by all ranks at a time ends, under
// every kind of synchronisation, as a serial model of it does.
//
// To have one outcome only, a round gives each block of elements of each rank either to
// one origin, for any operations, or to all, for accumulating with one operation that
// commutes.
func TestRandomPrograms(t *testing.T) {
	wholes := []window.Op{window.Sum, window.Prod, window.Min, window.Max, window.And, window.Or, window.Xor, window.Replace, window.NoOp}
	reals := []window.Op{window.Sum, window.Min, window.Max, window.Replace, window.NoOp}
	testPrograms(t, wholes, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) }, whole[uint8])
	testPrograms(t, wholes, func(r *rand.Rand) int64 { return int64(r.Uint64()) }, whole[int64])
	testPrograms(t, []window.Op{window.Replace, window.NoOp}, func(r *rand.Rand) [3]int8 { return [3]int8{int8(r.IntN(9)), 1, int8(r.IntN(9))} }, chosen[[3]int8])
	if testing.Short() { // each way of atomic operations was used
		return
	}
	testPrograms(t, wholes, func(r *rand.Rand) int16 { return int16(r.Uint32()) }, whole[int16])
	testPrograms(t, wholes, func(r *rand.Rand) uint32 { return r.Uint32() }, whole[uint32])
	testPrograms(t, reals, func(r *rand.Rand) float32 { return float32(r.IntN(100)) }, realNumber[float32])
	testPrograms(t, reals, func(r *rand.Rand) float64 { return float64(r.IntN(1000)) }, realNumber[float64])
	testPrograms(t, []window.Op{window.Sum, window.Replace, window.NoOp}, func(r *rand.Rand) complex128 { return complex(float64(r.IntN(100)), float64(r.IntN(100))) },
		func(op window.Op, a, b complex128) complex128 {
			if op == window.Sum {
				return a + b
			}
			return chosen(op, a, b)
		})
}

func whole[N uint8 | int16 | uint32 | int64](op window.Op, a, b N) N {
	switch op {
	case window.Sum:
		return a + b
	case window.Prod:
		return a * b
	case window.Min:
		return min(a, b)
	case window.Max:
		return max(a, b)
	case window.And:
		return a & b
	case window.Or:
		return a | b
	case window.Xor:
		return a ^ b
	}
	return chosen(op, a, b)
}

func realNumber[N float32 | float64](op window.Op, a, b N) N {
	switch op {
	case window.Sum:
		return a + b
	case window.Min:
		return min(a, b)
	case window.Max:
		return max(a, b)
	}
	return chosen(op, a, b)
}

func chosen[T any](op window.Op, a, b T) T {
	if op == window.Replace {
		return b
	}
	return a
}

const (
	ranks      = 3
	blocks     = 4  // at each rank
	blockSize  = 70 // elements: more than one range of latches
	rounds     = 12
	opsARound  = 30 // of each rank
	partLength = blocks * blockSize
)

// A step is one operation of the program. With do == "accumulate", "fetch" and "swap", src are
// the origin's elements; a swap expects what the model has, or something else.
type step[T comparable] struct {
	do           string
	target, disp int
	n            int
	op           window.Op
	src          []T
	hit          bool
}

// A script is what the ranks do: step lists by round and rank, and who may touch what.
type script[T comparable] struct {
	steps [rounds][ranks][]step[T]
	apply func(op window.Op, a, b T) T
}

func newScript[T comparable](seed uint64, ops []window.Op, value func(*rand.Rand) T, apply func(op window.Op, a, b T) T) *script[T] {
	random := rand.New(rand.NewPCG(seed, 3))
	s := &script[T]{apply: apply}
	for round := range rounds {
		var owner [ranks][blocks]int // the rank that has the block, or ranks for all
		for t := range owner {
			for b := range owner[t] {
				owner[t][b] = random.IntN(ranks + 1)
			}
		}
		for me := range ranks {
			for range opsARound {
				t, b := random.IntN(ranks), random.IntN(blocks)
				switch owner[t][b] {
				case me, ranks:
					s.steps[round][me] = append(s.steps[round][me], newStep(random, t, b, owner[t][b] == ranks, ops, value))
				}
			}
		}
	}
	return s
}

func newStep[T comparable](random *rand.Rand, target, block int, shared bool, ops []window.Op, value func(*rand.Rand) T) step[T] {
	at := random.IntN(blockSize)
	s := step[T]{target: target, disp: block*blockSize + at, n: 1 + random.IntN(blockSize-at), hit: random.IntN(2) == 0}
	s.do = []string{"put", "get", "accumulate", "fetch", "swap"}[random.IntN(5)]
	s.op = ops[random.IntN(len(ops))]
	if shared { // all ranks: the same operation, which commutes
		s.do, s.op = "accumulate", ops[(target+block)%len(ops)]
		if s.op == window.Replace {
			s.op = window.NoOp
		}
	}
	if s.do == "fetch" || s.do == "swap" {
		s.n = 1
	}
	for range s.n {
		s.src = append(s.src, value(random))
	}
	return s
}

// model runs a step on the model's parts and returns what it fetches.
func (s *script[T]) model(parts *[ranks][]T, st step[T]) []T {
	to := parts[st.target][st.disp : st.disp+st.n]
	before := slices.Clone(to)
	switch st.do {
	case "put":
		copy(to, st.src)
		return nil
	case "get":
		return before
	case "swap":
		if st.hit || before[0] == st.src[0] {
			to[0] = st.src[0]
		}
		return before
	}
	for i := range to {
		to[i] = s.apply(st.op, to[i], st.src[i])
	}
	if st.do == "fetch" {
		return before
	}
	return nil
}

// real runs a step on the window; expect is what the model fetches.
func (s *script[T]) real(w *window.Window[T], st step[T], expect []T) (got []T, err error) {
	switch st.do {
	case "put":
		return nil, w.Put(st.target, st.disp, st.src)
	case "get":
		got = make([]T, st.n)
		return got, w.Get(st.target, st.disp, got)
	case "accumulate":
		return nil, w.Accumulate(st.target, st.disp, st.src, st.op)
	case "fetch":
		old, err := w.FetchAndOp(st.target, st.disp, st.src[0], st.op)
		return []T{old}, err
	}
	expected := st.src[0]
	if st.hit {
		expected = expect[0]
	}
	old, err := w.CompareAndSwap(st.target, st.disp, expected, st.src[0])
	return []T{old}, err
}

// A discipline is how ranks synchronise: around a round, and around each step.
type discipline struct {
	name       string
	begin, end func(r rank, w synchronised) error
	each       bool
}

type synchronised interface {
	Fence(context.Context) error
	Lock(context.Context, int, window.LockMode) error
	Unlock(int) error
	LockAll(context.Context) error
	UnlockAll() error
	FlushAll() error
}

var disciplines = []discipline{
	{"Fence", func(r rank, w synchronised) error { return w.Fence(r) }, func(r rank, w synchronised) error { return w.Fence(r) }, false},
	{"LockAll", func(r rank, w synchronised) error { return w.LockAll(r) }, func(r rank, w synchronised) error { return w.UnlockAll() }, false},
	{"Lock", func(rank, synchronised) error { return nil }, func(rank, synchronised) error { return nil }, true},
}

func testPrograms[T comparable](t *testing.T, ops []window.Op, value func(*rand.Rand) T, apply func(op window.Op, a, b T) T) {
	t.Helper()
	for seed, d := range disciplines {
		s := newScript(uint64(seed), ops, value, apply)
		t.Run(fmt.Sprintf("%T under %s", *new(T), d.name), func(t *testing.T) {
			run(t, ranks, func(r rank) { runScript(r, s, d) })
		})
	}
}

// runScript runs the program at one rank, and the model of all ranks beside it.
func runScript[T comparable](r rank, s *script[T], d discipline) {
	me := r.comm.Rank()
	w := allocate[T](r, partLength)
	var parts [ranks][]T
	for t := range parts {
		parts[t] = make([]T, partLength)
	}
	for round := range rounds {
		r.no(d.begin(r, w))
		for origin := range ranks {
			for i, st := range s.steps[round][origin] {
				want := s.model(&parts, st)
				if origin != me {
					continue
				}
				got := runStep(r, s, w, st, want, d)
				if !slices.Equal(got, want) {
					r.Errorf("rank %d, round %d, step %d (%s %v): fetches %v, want %v", me, round, i, st.do, st.op, got, want)
				}
			}
		}
		r.no(d.end(r, w))
		meet(r)
		if own := part(r, w); !slices.Equal(own, parts[me]) {
			r.Errorf("rank %d: after round %d the part is %v,\n want %v", me, round, own, parts[me])
			r.t.FailNow()
		}
		meet(r)
	}
	r.no(w.Free(r))
}

func runStep[T comparable](r rank, s *script[T], w *window.Window[T], st step[T], want []T, d discipline) []T {
	if d.each {
		mode := window.Shared
		if st.n%2 == 0 {
			mode = window.Exclusive
		}
		r.no(w.Lock(r, st.target, mode))
		defer func() { r.no(w.Unlock(st.target)) }()
	}
	return must[[]T](r)(s.real(w, st, want))
}
