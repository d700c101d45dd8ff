package copying

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

const guard = 128

var untouched = bytes.Repeat([]byte{0xA5}, guard)

// checkCopy copies n bytes from one offset to another and looks at the bytes around the target, too.
func checkCopy(t *testing.T, src, dst []byte, from, to, n int) {
	t.Helper()
	before, after := dst[:to], dst[to+n:][:guard/2]
	copy(before, untouched)
	copy(after, untouched)
	clear(dst[to : to+n])
	if got := Copy(dst[to:to+n], src[from:from+n]); got != n {
		t.Fatalf("%d bytes from offset %d to %d: Copy returned %d", n, from, to, got)
	}
	if !bytes.Equal(dst[to:to+n], src[from:from+n]) {
		t.Fatalf("%d bytes from offset %d to %d differ", n, from, to)
	}
	if !bytes.HasPrefix(untouched, before) || !bytes.HasPrefix(untouched, after) {
		t.Fatalf("%d bytes from offset %d to %d: bytes outside the target were written", n, from, to)
	}
}

func random(n int) []byte {
	rng, p := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := 0; i < n; i += 8 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], rng.Uint64())
		copy(p[i:], word[:])
	}
	return p
}

func TestShortLengthsAndAlignments(t *testing.T) {
	src, dst := random(300+2*guard), make([]byte, 300+2*guard)
	for n := range 301 {
		for _, from := range []int{0, 1, 7, 8, 31, 33} {
			for _, to := range []int{0, 1, 5, 8, 16, 32, 63} {
				checkCopy(t, src, dst, from, to, n)
			}
		}
	}
}

// TestLengthsAtTheThresholds has one length on each side of every change of method.
func TestLengthsAtTheThresholds(t *testing.T) {
	src, dst := random(long+2*streamedBlock), make([]byte, long+2*streamedBlock)
	for _, n := range []int{
		cachedBlock, short - 1, short, short + 1, short + 2, short + cachedBlock,
		1<<20 + cachedBlock - 1, 1<<20 + cachedBlock + 1, 3<<20 + 5,
		long - cachedBlock - 1, long - cachedBlock, long - 1, long, long + 1, long + streamedBlock - 1, long + streamedBlock + 1,
	} {
		checkCopy(t, src, dst, 8, 8, n)
		checkCopy(t, src, dst, 3, 17, n)
	}
}

func TestUnequalLengths(t *testing.T) {
	for _, n := range []int{10, 2 << 20, long} {
		src, dst := random(n+5), make([]byte, n+9)
		if got := Copy(dst[:n], src); got != n || !bytes.Equal(dst[:n], src[:n]) || dst[n] != 0 {
			t.Errorf("%d bytes into %d: copied %d", n+5, n, got)
		}
		if got := Copy(dst, src[:n]); got != n || dst[n] != 0 {
			t.Errorf("%d bytes into %d: copied %d", n, n+9, got)
		}
	}
}

func TestOntoItself(t *testing.T) {
	p := random(2 << 20)
	want := bytes.Clone(p)
	if Copy(p, p); !bytes.Equal(p, want) {
		t.Error("a copy onto itself changed bytes")
	}
}

func TestNoAllocation(t *testing.T) {
	src, dst := random(2<<20), make([]byte, 2<<20)
	if n := testing.AllocsPerRun(10, func() {
		Copy(dst, src)
		var a, b [64]byte
		Copy(a[:], b[:])
	}); n != 0 {
		t.Errorf("%v allocations a copy, want none", n)
	}
}

// BenchmarkCopy compares Copy with the builtin, heap to mapped memory and back, as Put and Get are.
func BenchmarkCopy(b *testing.B) {
	heap, shared := make([]byte, 32<<20), mapped(b, 32<<20)
	for i := range heap {
		heap[i] = byte(i)
	}
	copy(shared, heap)
	for _, n := range []int{8, 1 << 10, 64 << 10, 1 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20} {
		for _, dir := range []string{"put", "get"} {
			dst, src := shared[:n], heap[:n]
			if dir == "get" {
				dst, src = src, dst
			}
			b.Run(fmt.Sprintf("%s/bytes=%d/by=builtin", dir, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					copy(dst, src)
				}
			})
			b.Run(fmt.Sprintf("%s/bytes=%d/by=Copy", dir, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					Copy(dst, src)
				}
			})
		}
	}
}
