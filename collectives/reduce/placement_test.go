package reduce

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The tests here change what a result must not depend on, and compare with the specification.

// TestPlacement starts each array at every element of a vector, apart from the others, and looks at the bytes around
// the destination.
func TestPlacement(t *testing.T) {
	const length, room = 5*vectorTest + 24, 2 * vectorTest
	pairs(t, func(t *testing.T, kind Kind, op Op) {
		rng := rand.New(rand.NewPCG(2, uint64(kind)<<8|uint64(op)))
		size, unit := kind.Size(), componentSize(kind)
		n := length / size * size
		a, b := operands(rng, kind, (n+room)/size)
		want := make([]byte, n)
		for range 60 {
			i, j, k := rng.IntN(vectorTest/unit)*unit, rng.IntN(vectorTest/unit)*unit, rng.IntN(vectorTest/unit)*unit
			x, y := a[i:i+n], b[j:j+n]
			copy(want, expected(kind, op, x, y))
			got := bytes.Repeat([]byte{0xA5}, n+room)
			Into(kind, op, got[k:k+n], x, y)
			check(t, "Into", kind, got[k:k+n], want, x, y)
			if outside := append(got[:k:k], got[k+n:]...); !bytes.Equal(outside, bytes.Repeat([]byte{0xA5}, room)) {
				t.Fatalf("%d bytes at offset %d: bytes outside the destination were written", n, k)
			}
		}
	})
}

// vectorTest is the widest vector of any kernel.
const vectorTest = 32

// TestAliases reduces in place, in every way the documentation allows.
func TestAliases(t *testing.T) {
	pairs(t, func(t *testing.T, kind Kind, op Op) {
		rng := rand.New(rand.NewPCG(3, uint64(kind)<<8|uint64(op)))
		for _, length := range []int{1, 3, 17, 64, 301, 3000} {
			a, b := operands(rng, kind, length)
			want, square := expected(kind, op, a, b), expected(kind, op, a, a)
			for _, c := range []struct {
				what string
				want []byte
				do   func(x, y, z []byte) (results [][]byte)
			}{
				{"Into a", want, func(x, y, _ []byte) [][]byte { Into(kind, op, x, x, y); return [][]byte{x} }},
				{"Into b", want, func(x, y, _ []byte) [][]byte { Into(kind, op, y, x, y); return [][]byte{y} }},
				{"Into both", square, func(x, _, _ []byte) [][]byte { Into(kind, op, x, x, x); return [][]byte{x} }},
				{"Into2 a, b", want, func(x, y, _ []byte) [][]byte { Into2(kind, op, x, y, x, y); return [][]byte{x, y} }},
				{"Into2 b, a", want, func(x, y, _ []byte) [][]byte { Into2(kind, op, y, x, x, y); return [][]byte{x, y} }},
				{"Into2 a, c", want, func(x, y, z []byte) [][]byte { Into2(kind, op, x, z, x, y); return [][]byte{x, z} }},
				{"Into2 c, b", want, func(x, y, z []byte) [][]byte { Into2(kind, op, z, y, x, y); return [][]byte{z, y} }},
				{"Into2 c, c", want, func(x, y, z []byte) [][]byte { Into2(kind, op, z, z, x, y); return [][]byte{z} }},
				{"Into2 a, a", want, func(x, y, _ []byte) [][]byte { Into2(kind, op, x, x, x, y); return [][]byte{x} }},
			} {
				for _, got := range c.do(bytes.Clone(a), bytes.Clone(b), make([]byte, len(a))) {
					check(t, c.what, kind, got, c.want, a, b)
				}
			}
		}
	})
}

// TestLong crosses the stretches that long arrays are cut into.
func TestLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		kind Kind
		op   Op
	}{{Float64, Sum}, {Uint8, Max}, {Complex64, Prod}, {Complex128, Sum}, {Int16, Prod}} {
		a, b := operands(rng, c.kind, (3*stretch+vectorTest+16)/c.kind.Size())
		want, got, second := expected(c.kind, c.op, a, b), make([]byte, len(a)), make([]byte, len(a))
		Into(c.kind, c.op, got, a, b)
		check(t, "Into", c.kind, got, want, a, b)
		clear(got)
		Into2(c.kind, c.op, got, second, a, b)
		check(t, "Into2, first", c.kind, got, want, a, b)
		check(t, "Into2, second", c.kind, second, want, a, b)
	}
}

// TestUnequalLengths: the destination's length counts, and a shorter operand is a panic before anything is written.
func TestUnequalLengths(t *testing.T) {
	a, b, dst := filled(128), filled(128), make([]byte, 64)
	Into(Int64, Sum, dst, a, b)
	for _, do := range []func(){
		func() { Into(Int64, Sum, dst, a[:63], b) },
		func() { Into(Int64, Sum, dst, a, b[:63]) },
		func() { Into2(Int64, Sum, dst, dst[:63], a, b) },
	} {
		before := bytes.Clone(dst)
		mustPanic(t, Int64, Sum, do)
		if !bytes.Equal(dst, before) {
			t.Error("an array that is too short was noticed after the destination was written")
		}
	}
}
