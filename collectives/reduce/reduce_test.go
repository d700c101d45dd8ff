package reduce

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestLengths covers every length across the unrolled loops and their ends, each operation on each kind.
func TestLengths(t *testing.T) {
	pairs(t, func(t *testing.T, kind Kind, op Op) {
		rng := rand.New(rand.NewPCG(1, uint64(kind)<<8|uint64(op)))
		for n := range 300/kind.Size() + 3 {
			a, b := operands(rng, kind, n)
			want := expected(kind, op, a, b)
			got, second := make([]byte, len(a)), make([]byte, len(a))
			Into(kind, op, got, a, b)
			check(t, "Into", kind, got, want, a, b)
			clear(got)
			Into2(kind, op, got, second, a, b)
			check(t, "Into2, first", kind, got, want, a, b)
			check(t, "Into2, second", kind, second, want, a, b)
		}
	})
}

// TestPeculiar pairs every peculiar value with every other, in every lane of a vector.
func TestPeculiar(t *testing.T) {
	pairs(t, func(t *testing.T, kind Kind, op Op) {
		values, part := peculiar64, componentSize(kind)
		if part < 8 {
			values = peculiar32
		}
		var a, b []byte
		for _, x := range values {
			for _, y := range values {
				a, b = appendBits(a, x, part), appendBits(b, y, part)
			}
		}
		a, b = a[:len(a)/kind.Size()*kind.Size()], b[:len(b)/kind.Size()*kind.Size()]
		want, got := expected(kind, op, a, b), make([]byte, len(a))
		for lane := 0; lane < len(a) && lane < 64; lane += kind.Size() {
			Into(kind, op, got[lane:], a[lane:], b[lane:])
			check(t, "Into", kind, got[lane:], want[lane:], a[lane:], b[lane:])
			Into(kind, op, got[lane:], b[lane:], a[lane:])
			check(t, "operands exchanged", kind, got[lane:], want[lane:], b[lane:], a[lane:])
		}
	})
}

func appendBits(p []byte, v uint64, size int) []byte {
	var buf [8]byte
	putBits(buf[:], v)
	return append(p, buf[:size]...)
}

func TestKindOf(t *testing.T) {
	type named float64
	type structure struct{ _ int }
	for _, c := range []struct {
		got, want Kind
	}{
		{KindOf[int8](), Int8}, {KindOf[int16](), Int16}, {KindOf[int32](), Int32}, {KindOf[int64](), Int64},
		{KindOf[uint8](), Uint8}, {KindOf[uint16](), Uint16}, {KindOf[uint32](), Uint32}, {KindOf[uint64](), Uint64},
		{KindOf[float32](), Float32}, {KindOf[float64](), Float64},
		{KindOf[complex64](), Complex64}, {KindOf[complex128](), Complex128},
		{KindOf[int](), Int64}, {KindOf[uint](), Uint64}, {KindOf[uintptr](), Uint64}, // on the 64-bit hosts this runs on
		{KindOf[named](), Float64}, {KindOf[bool](), 0}, {KindOf[string](), 0}, {KindOf[structure](), 0},
		{KindOf[any](), 0}, {KindOf[[]int](), 0}, {KindOf[*int](), 0},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestKindSizes(t *testing.T) {
	for kind, zero := range map[Kind]any{
		Int8: int8(0), Int16: int16(0), Int32: int32(0), Int64: int64(0),
		Uint8: uint8(0), Uint16: uint16(0), Uint32: uint32(0), Uint64: uint64(0),
		Float32: float32(0), Float64: float64(0), Complex64: complex64(0), Complex128: complex128(0),
	} {
		if want := reflect.TypeOf(zero); kind.Size() != int(want.Size()) || kind.String() != want.String() {
			t.Errorf("%v has size %d, want that of %v: %d", kind, kind.Size(), want, want.Size())
		}
	}
	if Kind(0).Size() != 0 || Kind(200).Size() != 0 {
		t.Error("a Kind that is none has a size")
	}
}

func TestValid(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		op   Op
		want string
	}{
		{Float64, Sum, ""}, {Complex64, Prod, ""}, {Uint8, Xor, ""}, {Float32, Max, ""},
		{Complex128, Min, "Min is not defined for complex128"},
		{Float32, And, "And is not defined for float32"},
		{Complex64, Xor, "Xor is not defined for complex64"},
		{0, Sum, "the element type is not numeric"},
		{99, Sum, "the element type is not numeric"},
		{Int32, 0, "Op(0) is not a reduction operation"},
		{Int32, 9, "Op(9) is not a reduction operation"},
	} {
		got := ""
		if err := Valid(c.kind, c.op); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Valid(%v, %v) = %q, want %q", c.kind, c.op, got, c.want)
		}
	}
}

// TestUndefinedPanics: what Valid refuses, Into does not quietly ignore, at any length.
func TestUndefinedPanics(t *testing.T) {
	for kind := range kinds + 2 {
		for op := range ops + 2 {
			if Valid(kind, op) == nil {
				continue
			}
			for _, n := range []int{16, 1024} {
				p := make([]byte, n)
				mustPanic(t, kind, op, func() { Into(kind, op, p, p, p) })
				mustPanic(t, kind, op, func() { Into2(kind, op, p, p, p, p) })
			}
		}
	}
}

func mustPanic(t *testing.T, kind Kind, op Op, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%v of %v did not panic", op, kind)
		}
	}()
	f()
}

func TestSlicesOfNamedTypes(t *testing.T) {
	type celsius float64
	type flags uint16
	temps := []celsius{1, -2, 3.5}
	Slices(Max, temps, temps, []celsius{0, 5, 3})
	if want := []celsius{1, 5, 3.5}; !reflect.DeepEqual(temps, want) {
		t.Errorf("Max of celsius = %v, want %v", temps, want)
	}
	set := make([]flags, 2)
	Slices(Or, set, []flags{1, 2}, []flags{4, 2})
	if want := []flags{5, 2}; !reflect.DeepEqual(set, want) {
		t.Errorf("Or of flags = %v, want %v", set, want)
	}
	Slices(Sum, []int(nil), nil, nil)
}

func TestNoAllocation(t *testing.T) {
	a, b := make([]float64, 300), make([]float64, 300)
	if n := testing.AllocsPerRun(100, func() {
		Slices(Sum, a, a, b)
		Into2(Float64, Max, bytesOf(a), bytesOf(b), bytesOf(a), bytesOf(b))
		var x, y [40]int32 // stay on the stack only if arguments do not escape
		Slices(Min, x[:], x[:], y[:])
		if KindOf[flag]() != Uint8 {
			t.Error("wrong kind")
		}
	}); n != 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

type flag uint8
