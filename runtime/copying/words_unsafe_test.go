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

// word is an unsigned number that ranks load and store whole.
type word struct {
	size  int
	store func(p *byte, v uint64)
	load  func(p *byte) uint64
	// The lengths are those at which the machine code of copy on amd64 and arm64 changes its method; the offsets
	// make accesses wider than a word cross lines and pages.
	lengths, offsets []int
}

var words = map[string]word{
	"uint64": {
		size:    8,
		store:   func(p *byte, v uint64) { atomic.StoreUint64((*uint64)(unsafe.Pointer(p)), v) },
		load:    func(p *byte) uint64 { return atomic.LoadUint64((*uint64)(unsafe.Pointer(p))) },
		lengths: []int{8, 16, 24, 32, 40, 56, 64, 72, 128, 136, 256, 264, 1000, 2048, 4104, 64 << 10, 1 << 20, 2<<20 + 8, 8 << 20},
		offsets: []int{0, 8, 24, 56, 4072},
	},
	"uint32": {
		size:    4,
		store:   func(p *byte, v uint64) { atomic.StoreUint32((*uint32)(unsafe.Pointer(p)), uint32(v)) },
		load:    func(p *byte) uint64 { return uint64(atomic.LoadUint32((*uint32)(unsafe.Pointer(p)))) * 0x1_0000_0001 },
		lengths: []int{4, 8, 12, 20, 28, 36, 60, 68, 132, 260, 1004, 2052, 64<<10 + 4, 2<<20 + 4},
		offsets: []int{0, 4, 12, 60, 4076},
	},
}

// watched is how many bytes of a long copy the tests look at: the rest is of the same kind.
const watched = 4 << 10

// TestWordsAreReadWhole: a rank stores words with sync/atomic while another gets them with Copy.
func TestWordsAreReadWhole(t *testing.T) {
	for name, w := range words {
		if n := tornReads(t, w, func(dst, src []byte) { Copy(dst, src) }, 2*time.Millisecond); n != 0 {
			t.Errorf("%d words of type %s were read in pieces", n, name)
		}
	}
}

// TestWordsAreWrittenWhole: a rank puts with Copy while another loads the words with sync/atomic.
func TestWordsAreWrittenWhole(t *testing.T) {
	for name, w := range words {
		if n := tornWrites(t, w, func(dst, src []byte) { Copy(dst, src) }, 2*time.Millisecond); n != 0 {
			t.Errorf("%d words of type %s were written in pieces", n, name)
		}
	}
}

// TestTearingIsSeen: the two tests above fail for a copy by bytes, given time.
func TestTearingIsSeen(t *testing.T) {
	byBytes := func(dst, src []byte) {
		for i := len(src) - 1; i >= 0; i-- { // not what a compiler takes for a copy
			dst[i] = src[i]
		}
	}
	for name, w := range words {
		w.lengths, w.offsets = []int{64, 4104}, []int{0, 8}
		for how, measure := range map[string]func(testing.TB, word, func(dst, src []byte), time.Duration) int{
			"read": tornReads, "written": tornWrites,
		} {
			deadline := time.Now().Add(20 * time.Second)
			for measure(t, w, byBytes, 10*time.Millisecond) == 0 {
				if time.Now().After(deadline) {
					t.Fatalf("%s copied by bytes were never seen to be %s in pieces", name, how)
				}
			}
		}
	}
}

// tornReads counts the words that do not arrive as they were stored. A stored word is one byte many times.
func tornReads(t testing.TB, w word, by func(dst, src []byte), each time.Duration) (torn int) {
	shared, private := mapped(t, 16<<20), make([]byte, 16<<20)
	w.everywhere(func(n, offset int) {
		src, dst := shared[offset:offset+n], private[w.size:w.size+n]
		stop := background(func(round uint64) {
			for i := 0; i < min(n, watched); i += w.size {
				w.store(&src[i], round%251*0x0101010101010101)
			}
		})
		for end := time.Now().Add(each); time.Now().Before(end); {
			by(dst, src)
			torn += w.mixed(dst)
		}
		stop()
	})
	return torn
}

// tornWrites counts the words another goroutine loads that were never put.
func tornWrites(t testing.TB, w word, by func(dst, src []byte), each time.Duration) (torn int) {
	shared, private := mapped(t, 16<<20), [2][]byte{make([]byte, 16<<20), make([]byte, 16<<20)}
	for i := range private[1] {
		private[1][i] = 0xFF
	}
	w.everywhere(func(n, offset int) {
		dst := shared[offset : offset+n]
		clear(dst)
		stop := background(func(round uint64) { by(dst, private[round&1][2*w.size:][:n]) })
		for end := time.Now().Add(each); time.Now().Before(end); {
			torn += w.mixed(dst)
		}
		stop()
	})
	return torn
}

func (w word) everywhere(do func(n, offset int)) {
	for _, n := range w.lengths {
		for _, offset := range w.offsets {
			do(n, offset)
		}
	}
}

// mixed counts the words whose bytes are not all the same.
func (w word) mixed(p []byte) (n int) {
	for i := 0; i < min(len(p), watched); i += w.size {
		if v := w.load(&p[i]); v != v&0xFF*0x0101010101010101 {
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
