package reduce

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// one is the specification: the operation on one element of the kind, written with Go's own types through reflect,
// apart from any kernel.
func one(kind Kind, op Op, dst, a, b []byte) {
	le := binary.LittleEndian
	switch kind {
	case Float32:
		x, y := math.Float32frombits(le.Uint32(a)), math.Float32frombits(le.Uint32(b))
		le.PutUint32(dst, math.Float32bits(float32(oneFloat(op, float64(x), float64(y)))))
	case Float64:
		x, y := math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b))
		le.PutUint64(dst, math.Float64bits(oneFloat(op, x, y)))
	case Complex64, Complex128:
		oneComplex(kind, op, dst, a, b)
	default:
		oneInteger(kind, op, dst, a, b)
	}
}

// oneFloat serves float32 too: the sum or product of two float32, rounded to float64 and then to float32, is
// rounded correctly, because 53 >= 2*24+2.
func oneFloat(op Op, x, y float64) float64 {
	var r float64
	switch op {
	case Sum:
		r = x + y
	case Prod:
		r = x * y
	case Min:
		r = math.Min(x, y)
	case Max:
		r = math.Max(x, y)
	}
	switch {
	case math.IsNaN(x) || math.IsNaN(y) || math.IsNaN(r): // math.Min(-Inf, NaN) is -Inf
		return math.NaN()
	default:
		return r
	}
}

func oneComplex(kind Kind, op Op, dst, a, b []byte) {
	part, size := Float64, 8
	if kind == Complex64 {
		part, size = Float32, 4
	}
	if op == Sum {
		one(part, op, dst, a, b)
		one(part, op, dst[size:], a[size:], b[size:])
		return
	}
	load := func(p []byte) float64 {
		if part == Float32 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(p))
	}
	store := func(p []byte, v float64) {
		if v != v {
			v = math.NaN()
		}
		if part == Float32 {
			binary.LittleEndian.PutUint32(p, math.Float32bits(float32(v)))
			return
		}
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
	}
	ar, ai, br, bi := load(a), load(a[size:]), load(b), load(b[size:])
	store(dst, float64(ar*br)-float64(ai*bi))
	store(dst[size:], float64(ar*bi)+float64(ai*br))
}

func oneInteger(kind Kind, op Op, dst, a, b []byte) {
	bits := uint(kind.Size() * 8)
	signed := kind <= Int64
	x, y := loadInteger(a, bits), loadInteger(b, bits)
	less := x < y
	if signed {
		less = int64(x<<(64-bits)) < int64(y<<(64-bits))
	}
	var r uint64
	switch {
	case op == Sum:
		r = x + y
	case op == Prod:
		r = x * y
	case op == And:
		r = x & y
	case op == Or:
		r = x | y
	case op == Xor:
		r = x ^ y
	case less == (op == Min):
		r = x
	default:
		r = y
	}
	for i := range kind.Size() {
		dst[i] = byte(r >> (8 * i))
	}
}

func loadInteger(p []byte, bits uint) (v uint64) {
	for i := range bits / 8 {
		v |= uint64(p[i]) << (8 * i)
	}
	return v
}

// pairs calls f for every kind and every operation defined on it.
func pairs(t *testing.T, f func(t *testing.T, kind Kind, op Op)) {
	t.Helper()
	for _, kind := range Kinds() {
		for _, op := range Ops() {
			if Valid(kind, op) == nil {
				t.Run(kind.String()+"/"+op.String(), func(t *testing.T) { f(t, kind, op) })
			}
		}
	}
}

// expected is the specification applied to whole arrays.
func expected(kind Kind, op Op, a, b []byte) []byte {
	want := make([]byte, len(a))
	for i := 0; i+kind.Size() <= len(a); i += kind.Size() {
		one(kind, op, want[i:i+kind.Size()], a[i:], b[i:])
	}
	return want
}

// operands fills two arrays of n elements with random bits and, often, the values that arithmetic is peculiar about.
func operands(rng *rand.Rand, kind Kind, n int) (a, b []byte) {
	size := kind.Size()
	a, b = make([]byte, n*size), make([]byte, n*size)
	part := componentSize(kind)
	for _, p := range [][]byte{a, b} {
		for i := 0; i < len(p); i += part {
			putBits(p[i:i+part], pick(rng, kind, part))
		}
	}
	return a, b
}

func componentSize(kind Kind) int {
	if kind >= Complex64 {
		return kind.Size() / 2
	}
	return kind.Size()
}

func putBits(p []byte, v uint64) {
	for i := range p {
		p[i] = byte(v >> (8 * i))
	}
}

var peculiar64 = []uint64{
	0, 1 << 63, // +0, -0
	math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)),
	0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF, 0x7FF80000DEADBEEF, // NaNs, signalling too
	1, 1<<63 | 1, 0x000FFFFFFFFFFFFF, // subnormal
	math.Float64bits(math.MaxFloat64), math.Float64bits(-math.MaxFloat64),
	math.Float64bits(1), math.Float64bits(-1), 0x7FFFFFFFFFFFFFFF,
}

var peculiar32 = []uint64{
	0, 1 << 31,
	uint64(math.Float32bits(float32(math.Inf(1)))), uint64(math.Float32bits(float32(math.Inf(-1)))),
	0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FC0BEEF,
	1, 1<<31 | 1, 0x007FFFFF,
	uint64(math.Float32bits(math.MaxFloat32)), uint64(math.Float32bits(-math.MaxFloat32)),
	uint64(math.Float32bits(1)), uint64(math.Float32bits(-1)), 0x7FFFFFFF,
}

func pick(rng *rand.Rand, kind Kind, part int) uint64 {
	switch {
	case rng.IntN(2) == 0:
		return rng.Uint64()
	case part == 8:
		return peculiar64[rng.IntN(len(peculiar64))]
	case part == 4:
		return peculiar32[rng.IntN(len(peculiar32))]
	default:
		return []uint64{0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF}[rng.IntN(8)]
	}
}

// element is which element of the kind differs first, and its bytes.
func differs(kind Kind, got, want []byte) (int, []byte, []byte) {
	for i := 0; i < len(want); i += kind.Size() {
		g, w := got[i:i+kind.Size()], want[i:i+kind.Size()]
		if string(g) != string(w) {
			return i / kind.Size(), g, w
		}
	}
	return -1, nil, nil
}

func check(t *testing.T, what string, kind Kind, got, want, a, b []byte) {
	t.Helper()
	if i, g, w := differs(kind, got, want); i >= 0 {
		s := kind.Size()
		t.Fatalf("%s: element %d of %d is %x, want %x (operands %x, %x)", what, i, len(want)/s, g, w,
			a[i*s:(i+1)*s], b[i*s:(i+1)*s])
	}
}
