package element

import (
	"fmt"
	"math"
	"math/cmplx"
	"reflect"
	"runtime"
	"sync"
	"testing"
)

// Every operation of every type on every pair of edge values, against the operation
// written down directly.
func TestEveryOpOfEveryType(t *testing.T) {
	testIntegers(t, []int8{0, 1, -1, math.MaxInt8, math.MinInt8, 77})
	testIntegers(t, []int16{0, 1, -1, math.MaxInt16, math.MinInt16, 777})
	testIntegers(t, []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 77777})
	testIntegers(t, []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 7777777777})
	testIntegers(t, []int{0, 1, -1, math.MaxInt, math.MinInt, 7777777777})
	testIntegers(t, []uint8{0, 1, math.MaxUint8, 128, 77})
	testIntegers(t, []uint16{0, 1, math.MaxUint16, 1 << 15, 777})
	testIntegers(t, []uint32{0, 1, math.MaxUint32, 1 << 31, 77777})
	testIntegers(t, []uint64{0, 1, math.MaxUint64, 1 << 63, 7777777777})
	testIntegers(t, []uint{0, 1, math.MaxUint, 1 << 63, 7777777777})
	testIntegers(t, []uintptr{0, 1, math.MaxUint, 1 << 63, 7777777777})
	inf, nan := math.Inf(1), math.NaN()
	testFloats(t, []float64{0, math.Copysign(0, -1), 1, -1.5, inf, -inf, nan, math.MaxFloat64, math.SmallestNonzeroFloat64})
	testFloats(t, []float32{0, float32(math.Copysign(0, -1)), 1, -1.5, float32(inf), float32(-inf), float32(nan), math.MaxFloat32})
	testComplex(t, []complex64{0, 1, 1i, -2 + 3i, complex64(cmplx.Inf()), complex64(cmplx.NaN())})
	testComplex(t, []complex128{0, 1, 1i, -2 + 3i, cmplx.Inf(), cmplx.NaN()})
	testBool(t)
	testOpaque(t, []pair{{1, 2}, {-1, 0}})
	testOpaque(t, []triple{{1, 2, 3}, {4, 5, 6}})
	testOpaque(t, [][5]byte{{1, 2, 3, 4, 5}, {5}})
	testOpaque(t, []wide{{1, 2.5}, {3, -4}})
}

type (
	pair   struct{ A, B int32 }
	triple struct{ A, B, C int8 }
	wide   struct {
		A int64
		B float64
	}
	gapped struct {
		A int8
		B int32
	}
)

func testIntegers[N integers](t *testing.T, values []N) {
	conform(t, values, Ops(), func(op Op, a, b N) N {
		switch op {
		case Sum:
			return a + b
		case Prod:
			return a * b
		case Min:
			return min(a, b)
		case Max:
			return max(a, b)
		case And:
			return a & b
		case Or:
			return a | b
		case Xor:
			return a ^ b
		}
		return replaceOrKeep(op, a, b)
	})
}

func testFloats[N float32 | float64](t *testing.T, values []N) {
	conform(t, values, []Op{Sum, Prod, Min, Max, Replace, NoOp}, func(op Op, a, b N) N {
		switch op {
		case Sum:
			return a + b
		case Prod:
			return a * b
		case Min:
			return min(a, b)
		case Max:
			return max(a, b)
		}
		return replaceOrKeep(op, a, b)
	})
}

func testComplex[N complex64 | complex128](t *testing.T, values []N) {
	conform(t, values, []Op{Sum, Prod, Replace, NoOp}, func(op Op, a, b N) N {
		switch op {
		case Sum:
			return a + b
		case Prod:
			return a * b
		}
		return replaceOrKeep(op, a, b)
	})
}

func testBool(t *testing.T) {
	conform(t, []bool{false, true}, []Op{And, Or, Xor, Replace, NoOp}, func(op Op, a, b bool) bool {
		switch op {
		case And:
			return a && b
		case Or:
			return a || b
		case Xor:
			return a != b
		}
		return replaceOrKeep(op, a, b)
	})
}

func testOpaque[T any](t *testing.T, values []T) {
	conform(t, values, []Op{Replace, NoOp}, replaceOrKeep[T])
}

func replaceOrKeep[T any](op Op, a, b T) T {
	if op == Replace {
		return b
	}
	return a
}

// conform checks Fetch and Accumulate of the valid operations, that the others are
// refused, and CompareAndSwap.
func conform[T any](t *testing.T, values []T, valid []Op, want func(op Op, a, b T) T) {
	t.Helper()
	k := kindOf[T](t)
	for _, op := range Ops() {
		if ok := k.Valid(op) == nil; ok != contains(valid, op) {
			t.Errorf("%v of %v: valid %v", op, k.Type, ok)
		}
	}
	for _, a := range values {
		for n, b := range values {
			for _, op := range valid {
				old, now := fetch(&k, n%4, a, b, op)
				if !same(old, a) || !same(now, want(op, a, b)) {
					t.Errorf("%v of %v: %v and %v give %v, want %v (fetched %v)", op, k.Type, a, b, now, want(op, a, b), old)
				}
				if list := accumulate(&k, []T{b, a, b}, []T{a, b, b}, op); !same(list[1], want(op, a, b)) || !same(list[0], want(op, b, a)) || !same(list[2], want(op, b, b)) {
					t.Errorf("accumulating %v of %v: %v and %v give %v", op, k.Type, a, b, list)
				}
			}
			checkSwap(t, &k, n%4, a, b)
		}
	}
}

func checkSwap[T any](t *testing.T, k *Kind, i int, a, b T) {
	t.Helper()
	if old, now := swap(k, i, a, a, b); !same(old, a) || !same(now, b) {
		t.Errorf("%v: swapping %v for %v gives %v, fetched %v", k.Type, a, b, now, old)
	}
	if reflect.DeepEqual(a, b) || !same(a, a) {
		return
	}
	if old, now := swap(k, i, a, b, b); !same(old, a) || !same(now, a) && !reflect.ValueOf(a).IsZero() {
		t.Errorf("%v: swapping %v, expected to be %v, gives %v, fetched %v", k.Type, a, b, now, old)
	}
}

func contains(ops []Op, op Op) bool {
	for _, o := range ops {
		if o == op {
			return true
		}
	}
	return false
}

// same takes NaNs for equal, and tells zeros apart by how they print.
func same[T any](a, b T) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// A narrow element's neighbours keep what is stored there, by atomic operations on
// them and by plain stores.
func TestNarrowKeepsNeighbours(t *testing.T) {
	k := kindOf[int8](t)
	c := mapped(t)
	var wait sync.WaitGroup
	const times = 20000
	for i := range 4 {
		wait.Go(func() {
			for n := range times {
				if i == 3 { // the plain one
					c[3] = byte(n)
					if c[3] != byte(n) {
						t.Errorf("a plain store of %d was lost", n)
						return
					}
					continue
				}
				k.Fetch(c.at(i, 1), 1, Sum)
				if n%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wait.Wait()
	sum := int(times)
	for i := range 3 {
		if c[i] != byte(sum) {
			t.Errorf("element %d counts %d, want %d", i, c[i], byte(sum))
		}
	}
}

// Concurrent sums of every width lose nothing.
func TestConcurrentSums(t *testing.T) {
	sumUp[uint8](t)
	sumUp[int16](t)
	sumUp[uint32](t)
	sumUp[int64](t)
	sumUp[float32](t)
	sumUp[float64](t)
	sumUp[complex64](t)
}

func sumUp[N integers | float32 | float64 | complex64](t *testing.T) {
	t.Helper()
	k := kindOf[N](t)
	c := newCell()
	var wait sync.WaitGroup
	const members, times = 4, 1000
	for range members {
		wait.Go(func() {
			for range times {
				k.Fetch(c.at(1, k.Size), bitsOf(N(1)), Sum)
			}
		})
	}
	wait.Wait()
	total := members * times
	if got := fromBits[N](k.Fetch(c.at(1, k.Size), 0, NoOp)); got != conv[N](total) {
		t.Errorf("%v: the sum is %v, want %v", k.Type, got, conv[N](total))
	}
}

// conv wraps an int around as additions of 1 do.
func conv[N integers | float32 | float64 | complex64](n int) (sum N) {
	for range n {
		sum++
	}
	return sum
}

type (
	named      int32
	withString struct {
		A  int
		In [2]struct{ Name string }
	}
	withSlice struct{ S []int }
	recursive struct{ Next *recursive }
)

func TestWhatCanBeAnElement(t *testing.T) {
	for _, c := range []struct {
		typ  reflect.Type
		want string // "": it can
	}{
		{reflect.TypeFor[named](), ""},
		{reflect.TypeFor[[0]string](), "element type [0]string: its values have no size"},
		{reflect.TypeFor[struct{}](), "element type struct {}: its values have no size"},
		{reflect.TypeFor[string](), "element type string: it holds a Go pointer"},
		{reflect.TypeFor[*int](), "element type *int: it holds a Go pointer"},
		{reflect.TypeFor[any](), "element type interface {}: it holds a Go pointer"},
		{reflect.TypeFor[withString](), "element type element.withString: .In[].Name, of type string, holds a Go pointer"},
		{reflect.TypeFor[withSlice](), "element type element.withSlice: .S, of type []int, holds a Go pointer"},
		{reflect.TypeFor[recursive](), "element type element.recursive: .Next, of type *element.recursive, holds a Go pointer"},
		{reflect.TypeFor[[3]func()](), "element type [3]func(): [], of type func(), holds a Go pointer"},
	} {
		_, err := Of(c.typ)
		if got := fmt.Sprint(err); err == nil && c.want != "" || err != nil && got != c.want {
			t.Errorf("%v: error %v, want %q", c.typ, err, c.want)
		}
	}
}

func TestWhatCannotBeSwapped(t *testing.T) {
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[pair](), "<nil>"},
		{reflect.TypeFor[wide](), "<nil>"},
		{reflect.TypeFor[float64](), "<nil>"},
		{reflect.TypeFor[gapped](), "CompareAndSwap is not defined for elements of type element.gapped, which has bytes without a meaning before or in field B"},
		{reflect.TypeFor[struct {
			A int32
			B int8
		}](), "CompareAndSwap is not defined for elements of type struct { A int32; B int8 }, which has bytes without a meaning at its end"},
		{reflect.TypeFor[[2]struct{ _, B int8 }](), "CompareAndSwap is not defined for elements of type [2]struct { _ int8; B int8 }, which has bytes without a meaning before or in field _"},
	} {
		k, err := Of(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(k.Swappable()); got != c.want {
			t.Errorf("%v: %s, want %s", c.typ, got, c.want)
		}
	}
}

func TestSignaturesDiffer(t *testing.T) {
	seen := map[uint32]reflect.Type{}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[int64](), reflect.TypeFor[uint64](), reflect.TypeFor[float64](), reflect.TypeFor[pair](), reflect.TypeFor[named](), reflect.TypeFor[wide](),
	} {
		k, err := Of(typ)
		if err != nil {
			t.Fatal(err)
		}
		if other, known := seen[k.Signature()]; known {
			t.Errorf("%v and %v have the same signature", typ, other)
		}
		seen[k.Signature()] = typ
	}
}

func TestInvalidOps(t *testing.T) {
	k := kindOf[float64](t)
	for op, want := range map[Op]string{
		0:   "Op(0) is no operation",
		99:  "Op(99) is no operation",
		And: "And is not defined for elements of type float64",
	} {
		if got := fmt.Sprint(k.Valid(op)); got != want {
			t.Errorf("%v: %s, want %s", op, got, want)
		}
	}
}

func BenchmarkFetch(b *testing.B) {
	for _, op := range []Op{Sum, Max, Replace, NoOp} {
		b.Run("int64/"+op.String(), func(b *testing.B) { benchmark[int64](b, op) })
		b.Run("float64/"+op.String(), func(b *testing.B) { benchmark[float64](b, op) })
		b.Run("int8/"+op.String(), func(b *testing.B) { benchmark[int8](b, op) })
	}
}

func benchmark[T any](b *testing.B, op Op) {
	k := kindOf[T](b)
	c := newCell()
	for b.Loop() {
		k.Fetch(c.at(1, k.Size), 1, op)
	}
}
