package copying

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped returns memory as ranks share it. The race detector, which is right to complain about what the tests here
// do on purpose, does not watch it.
func mapped(t testing.TB, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		t.Fatalf("mmap of %d bytes: %v", n, err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Errorf("munmap: %v", err)
		}
	})
	return mem
}

func words(p []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(p))), len(p)/8)
}

// wordLengths have the lengths at which the machine code of copy on amd64 and arm64 changes its method.
var wordLengths = []int{8, 16, 24, 32, 40, 56, 64, 72, 128, 136, 256, 264, 1000, 2048, 4104, 64 << 10, 1 << 20, 2<<20 + 8, 8 << 20}

// TestWordsAreReadWhole: a rank stores words with sync/atomic while another gets them with Copy.
func TestWordsAreReadWhole(t *testing.T) {
	if n := tornReads(t, func(dst, src []byte) { Copy(dst, src) }, wordLengths, 2*time.Millisecond); n != 0 {
		t.Errorf("%d words were read in pieces", n)
	}
}

// TestWordsAreWrittenWhole: a rank puts with Copy while another loads the words with sync/atomic.
func TestWordsAreWrittenWhole(t *testing.T) {
	if n := tornWrites(t, func(dst, src []byte) { Copy(dst, src) }, wordLengths, 2*time.Millisecond); n != 0 {
		t.Errorf("%d words were written in pieces", n)
	}
}

// TestTearingIsSeen: the two tests above fail for a copy by halves of words, given time.
func TestTearingIsSeen(t *testing.T) {
	halves := func(dst, src []byte) {
		for i := 0; i < len(src); i += 4 {
			d, s := (*uint32)(unsafe.Pointer(&dst[i])), (*uint32)(unsafe.Pointer(&src[i]))
			atomic.StoreUint32(d, atomic.LoadUint32(s))
		}
	}
	for name, measure := range map[string]func(testing.TB, func(dst, src []byte), []int, time.Duration) int{
		"read": tornReads, "written": tornWrites,
	} {
		deadline := time.Now().Add(20 * time.Second)
		for measure(t, halves, []int{64, 4104}, 10*time.Millisecond) == 0 {
			if time.Now().After(deadline) {
				t.Fatalf("words copied by halves were never seen to be %s in pieces", name)
			}
		}
	}
}

// tornReads counts the words that do not arrive as they were stored. A stored word is one byte eight times.
func tornReads(t testing.TB, by func(dst, src []byte), lengths []int, each time.Duration) (torn int) {
	shared, private := mapped(t, 16<<20), make([]byte, 16<<20)
	for _, n := range lengths {
		for _, offset := range []int{0, 8, 24, 56, 4072} { // a load of more than a word then crosses lines and pages
			src, dst := shared[offset:offset+n], private[8:8+n]
			stop := background(func(round uint64) {
				w := words(src)
				for i := range w[:min(len(w), 512)] {
					atomic.StoreUint64(&w[i], round%251*0x0101010101010101)
				}
			})
			for end := time.Now().Add(each); time.Now().Before(end); {
				by(dst, src)
				torn += mixed(words(dst), func(p *uint64) uint64 { return *p })
			}
			stop()
		}
	}
	return torn
}

// tornWrites counts the words another goroutine loads that were never put.
func tornWrites(t testing.TB, by func(dst, src []byte), lengths []int, each time.Duration) (torn int) {
	shared, private := mapped(t, 16<<20), [2][]byte{make([]byte, 16<<20), make([]byte, 16<<20)}
	for i := range private[1] {
		private[1][i] = 0xFF
	}
	for _, n := range lengths {
		for _, offset := range []int{0, 8, 24, 56, 4072} {
			dst := shared[offset : offset+n]
			clear(dst)
			stop := background(func(round uint64) { by(dst, private[round&1][16:16+n]) })
			for end := time.Now().Add(each); time.Now().Before(end); {
				torn += mixed(words(dst), func(p *uint64) uint64 { return atomic.LoadUint64(p) })
			}
			stop()
		}
	}
	return torn
}

// mixed counts the words whose bytes are not all the same, in the first 512: the others are of the same kind.
func mixed(w []uint64, load func(*uint64) uint64) (n int) {
	for i := range w[:min(len(w), 512)] {
		if v := load(&w[i]); v != v&0xFF*0x0101010101010101 {
			n++
		}
	}
	return n
}

// background calls f in another goroutine until the returned function is called, and waits for its end.
func background(f func(round uint64)) (stop func()) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for round := uint64(0); !over.Load(); round++ {
			f(round)
		}
	}()
	return func() { over.Store(true); <-done }
}
