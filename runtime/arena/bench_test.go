package arena

import (
	"fmt"
	"testing"
)

func TestSteadyStateAllocatesNothing(t *testing.T) {
	a := newArena(t, Config{})
	mustFree(t, a, mustAlloc[float64](t, a, 1000))
	mustFree(t, a, mustAlloc[nested](t, a, 1000))
	s, heap := mustAlloc[byte](t, a, 100), make([]byte, 100)
	for name, f := range map[string]func(){
		"numbers": func() { mustFree(t, a, mustAlloc[float64](t, a, 1000)) },
		"structs": func() { mustFree(t, a, mustAlloc[nested](t, a, 1000)) },
		"Locate":  func() { a.Locate(s); a.Locate(heap); Where(a, heap) },
		"Usage":   func() { a.Usage() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkAllocFree(b *testing.B) {
	for _, size := range []int{64, 4 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			a := newArena(b, Config{})
			b.ReportAllocs()
			for b.Loop() {
				s, _ := Alloc[byte](a, size)
				_ = Free(a, s)
			}
		})
	}
}

// A registered buffer and what peers need to reach it: Alloc and Remote, without the
// Free that follows.
func BenchmarkAllocRegistered(b *testing.B) {
	for _, size := range []int{64, 1 << 10, 4 << 10} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			a := newArena(b, Config{})
			if err := a.Register(newRegistrations()); err != nil {
				b.Fatal(err)
			}
			var mem [256][]byte
			var keys uint64
			b.ReportAllocs()
			for i := range b.N {
				at := i % len(mem)
				if at == 0 && i > 0 {
					b.StopTimer()
					for _, m := range mem {
						mustFree(b, a, m)
					}
					b.StartTimer()
				}
				mem[at], _ = Alloc[byte](a, size)
				r, _ := a.Remote(mem[at])
				keys += r.Key
			}
			if keys == 0 {
				b.Error("not registered")
			}
		})
	}
}

// What AllocFree of 1 MiB spends on the promise that memory is zeroed.
func BenchmarkZero(b *testing.B) {
	a := newArena(b, Config{})
	for _, size := range []int{4 << 10, 1 << 20} {
		s := mustAlloc[byte](b, a, size)
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			for b.Loop() {
				clear(s)
			}
		})
	}
}

// Reuse without zeroing: the bookkeeping alone.
func BenchmarkReuse(b *testing.B) {
	a := newArena(b, Config{})
	k := a.classes.of(1 << 20)
	for b.Loop() {
		block, _, _ := a.obtain(k)
		_ = a.freeAt(address(block.bytes()), HoldName{})
	}
}

func BenchmarkLocate(b *testing.B) {
	for _, segments := range []int{1, 4, 8} {
		a := newArena(b, Config{})
		var s []byte
		for range segments {
			s = mustAlloc[byte](b, a, int(a.larger))
		}
		heap := make([]byte, 4096)
		b.Run(fmt.Sprintf("segments=%d/arena", segments), func(b *testing.B) {
			for b.Loop() {
				a.Locate(s)
			}
		})
		b.Run(fmt.Sprintf("segments=%d/heap", segments), func(b *testing.B) {
			for b.Loop() {
				a.Locate(heap)
			}
		})
		b.Run(fmt.Sprintf("segments=%d/remote", segments), func(b *testing.B) {
			for b.Loop() {
				a.Remote(s)
			}
		})
	}
}

// The first allocation makes a segment: what a rank pays once, at its start.
func BenchmarkFirstAlloc(b *testing.B) {
	for b.Loop() {
		a := New(Config{})
		if _, err := Alloc[byte](a, 64); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Filling new memory, 64 MiB at a time.
func BenchmarkGrow(b *testing.B) {
	b.SetBytes(64 << 20)
	for b.Loop() {
		a := New(Config{})
		if _, err := Alloc[byte](a, 64<<20); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
