package window_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

// bench runs body as rank 0 of two; rank 1 is only there.
func bench[T any](b *testing.B, n int, body func(ctx context.Context, w *window.Window[T])) {
	b.ReportAllocs()
	worldtest.Run(b, 2, func(ctx context.Context, comm *world.Comm) {
		w, err := window.Allocate[T](ctx, comm, n, flavour(nil)...)
		if err != nil {
			b.Error(err)
			return
		}
		if comm.Rank() == 0 {
			body(ctx, w)
		}
		if err := w.Free(ctx); err != nil {
			b.Error(err)
		}
	})
}

// underLockAll runs body in an epoch of LockAll.
func underLockAll[T any](b *testing.B, n int, body func(w *window.Window[T])) {
	bench(b, n, func(ctx context.Context, w *window.Window[T]) {
		if err := w.LockAll(ctx); err != nil {
			b.Error(err)
			return
		}
		body(w)
		if err := w.UnlockAll(); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1, 128, 8192, 131072, 2097152} {
		b.Run(fmt.Sprint(8*n), func(b *testing.B) {
			underLockAll(b, n, func(w *window.Window[float64]) {
				b.SetBytes(int64(8 * n))
				src := make([]float64, n)
				for b.Loop() {
					if err := w.Put(1, 0, src); err != nil {
						b.Fatal(err)
					}
					if err := w.Flush(1); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1, 128, 8192, 131072, 2097152} {
		b.Run(fmt.Sprint(8*n), func(b *testing.B) {
			underLockAll(b, n, func(w *window.Window[float64]) {
				b.SetBytes(int64(8 * n))
				dst := make([]float64, n)
				for b.Loop() {
					if err := w.Get(1, 0, dst); err != nil {
						b.Fatal(err)
					}
					if err := w.Flush(1); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkPutOnly(b *testing.B) {
	underLockAll(b, 1, func(w *window.Window[float64]) {
		src := make([]float64, 1)
		for b.Loop() {
			if err := w.Put(1, 0, src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPutBytes(b *testing.B) {
	underLockAll(b, 8, func(w *window.Window[byte]) {
		src := make([]byte, 8)
		for b.Loop() {
			if err := w.Put(1, 0, src); err != nil {
				b.Fatal(err)
			}
			if err := w.Flush(1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFlush(b *testing.B) {
	underLockAll(b, 1, func(w *window.Window[float64]) {
		for b.Loop() {
			if err := w.Flush(1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFetchAdd(b *testing.B) {
	underLockAll(b, 1, func(w *window.Window[int64]) {
		for b.Loop() {
			if _, err := w.FetchAdd(1, 0, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCompareAndSwap(b *testing.B) {
	underLockAll(b, 1, func(w *window.Window[int64]) {
		for b.Loop() {
			if _, err := w.CompareAndSwap(1, 0, 0, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAccumulate(b *testing.B) {
	const n = 1024
	b.Run("float64", func(b *testing.B) { accumulate(b, make([]float64, n)) })
	b.Run("int64", func(b *testing.B) { accumulate(b, make([]int64, n)) })
	b.Run("int8", func(b *testing.B) { accumulate(b, make([]int8, n)) })
	b.Run("complex128", func(b *testing.B) { accumulate(b, make([]complex128, n)) })
}

func accumulate[T any](b *testing.B, src []T) {
	underLockAll(b, len(src), func(w *window.Window[T]) {
		for b.Loop() {
			if err := w.Accumulate(1, 0, src, window.Sum); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLockPutUnlock(b *testing.B) {
	bench(b, 1, func(ctx context.Context, w *window.Window[float64]) {
		src := make([]float64, 1)
		for b.Loop() {
			if err := w.Lock(ctx, 1, window.Exclusive); err != nil {
				b.Fatal(err)
			}
			if err := w.Put(1, 0, src); err != nil {
				b.Fatal(err)
			}
			if err := w.Unlock(1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFence(b *testing.B) {
	b.ReportAllocs()
	worldtest.Run(b, 2, func(ctx context.Context, comm *world.Comm) {
		w, err := window.Allocate[float64](ctx, comm, 1)
		if err != nil {
			b.Error(err)
			return
		}
		if comm.Rank() == 0 {
			for b.Loop() {
				if err := w.Fence(ctx); err != nil {
					b.Error(err)
					return
				}
			}
			w.Local()[0] = 1 // the others' sign to stop
			if err := w.Fence(ctx); err != nil {
				b.Error(err)
			}
			return
		}
		for stop := []float64{0}; stop[0] == 0; {
			if err := w.Fence(ctx); err != nil {
				b.Error(err)
				return
			}
			if err := w.Get(0, 0, stop); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
