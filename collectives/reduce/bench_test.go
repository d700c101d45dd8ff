package reduce

import (
	"fmt"
	"testing"
)

var benchSizes = []int{64, 1 << 10, 32 << 10, 512 << 10, 8 << 20, 32 << 20}

// BenchmarkInto compares what Into does with the Go loops alone. MB/s are of the result.
func BenchmarkInto(b *testing.B) {
	for _, c := range []struct {
		kind Kind
		op   Op
	}{
		{Float64, Sum}, {Float64, Max}, {Float32, Sum}, {Int64, Sum}, {Int64, Min}, {Int64, Prod}, {Int32, Sum},
		{Uint8, Prod}, {Complex128, Prod},
	} {
		for _, n := range benchSizes {
			name := fmt.Sprintf("%v-%v/bytes=%d", c.kind, c.op, n)
			b.Run(name+"/by=Go", func(b *testing.B) { benchReduce(b, n, c.kind, c.op, inGo) })
			b.Run(name+"/by=Into", func(b *testing.B) { benchReduce(b, n, c.kind, c.op, Into) })
		}
	}
}

func benchReduce(b *testing.B, n int, kind Kind, op Op, by func(Kind, Op, []byte, []byte, []byte)) {
	dst, x, y := filled(n), filled(n), filled(n)
	b.SetBytes(int64(n))
	for b.Loop() {
		by(kind, op, dst, x, y)
	}
}

func inGo(kind Kind, op Op, dst, a, b []byte) {
	scalar(kind, op, first(dst), first(a), first(b), len(dst))
}

// filled is memory that has been written to, with finite numbers of each kind.
func filled(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i % 7)
	}
	return p
}

// BenchmarkInto2 compares Into2 with Into and a copy of the whole.
func BenchmarkInto2(b *testing.B) {
	for _, n := range benchSizes {
		dst1, dst2, x, y := filled(n), filled(n), filled(n), filled(n)
		b.Run(fmt.Sprintf("bytes=%d/by=Into+copy", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Into(Float64, Sum, dst1, x, y)
				copy(dst2, dst1)
			}
		})
		b.Run(fmt.Sprintf("bytes=%d/by=Into2", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Into2(Float64, Sum, dst1, dst2, x, y)
			}
		})
	}
}

func BenchmarkKindOf(b *testing.B) {
	type named float64
	for b.Loop() {
		if KindOf[named]() != Float64 {
			b.Fatal("wrong kind")
		}
	}
}
