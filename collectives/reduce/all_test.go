package reduce

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// folded is the specification of All.
func folded(kind Kind, op Op, srcs [][]byte) []byte {
	want := bytes.Clone(srcs[0])
	for _, src := range srcs[1:] {
		want = expected(kind, op, want, src)
	}
	return want
}

func TestAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct {
		kind Kind
		op   Op
	}{{Float64, Sum}, {Float32, Max}, {Complex64, Prod}, {Uint8, Xor}, {Int16, Min}} {
		for operandsN := 1; operandsN <= 5; operandsN++ {
			for results := 1; results <= 5; results++ {
				for _, length := range []int{0, 8, 72, 1000, allBlock, allBlock + 8, 3*allBlock - 16} {
					checkAllOnce(t, rng, c.kind, c.op, operandsN, results, length)
				}
			}
		}
	}
}

func checkAllOnce(t *testing.T, rng *rand.Rand, kind Kind, op Op, operandsN, results, length int) {
	t.Helper()
	var srcs [][]byte
	for range operandsN {
		a, _ := operands(rng, kind, length/kind.Size())
		srcs = append(srcs, a)
	}
	want := folded(kind, op, srcs)
	for _, stream := range []bool{false, true} {
		var dsts [][]byte
		for d := range results {
			offset := 8 * (d % 2 * rng.IntN(4))
			dsts = append(dsts, make([]byte, length+offset)[offset:])
		}
		All(kind, op, dsts, srcs, stream)
		for _, got := range dsts {
			check(t, "All", kind, got, want, srcs[0], srcs[len(srcs)-1])
		}
		// In place: as many operands as there are results are overwritten, the last first.
		placed := clones(srcs)
		dsts = append([][]byte{}, dsts...)
		for d := range min(results, operandsN) {
			dsts[d] = placed[operandsN-1-d]
		}
		All(kind, op, dsts, placed, stream)
		for _, got := range dsts {
			check(t, "All in place", kind, got, want, srcs[0], srcs[len(srcs)-1])
		}
	}
}

func clones(arrays [][]byte) (out [][]byte) {
	for _, p := range arrays {
		out = append(out, bytes.Clone(p))
	}
	return out
}

func TestAllChecksLengths(t *testing.T) {
	long, short := make([]byte, 64), make([]byte, 56)
	mustPanic(t, Int64, Sum, func() { All(Int64, Sum, [][]byte{long, short}, [][]byte{long, long}, false) })
	mustPanic(t, Int64, Sum, func() { All(Int64, Sum, [][]byte{long}, [][]byte{long, short, long}, true) })
	mustPanic(t, Int64, Sum, func() { All(Int64, Sum, [][]byte{long}, [][]byte{short}, true) })
}

// TestStream: the streaming functions agree with the specification wherever the destinations lie.
func TestStream(t *testing.T) {
	pairs(t, func(t *testing.T, kind Kind, op Op) {
		rng := rand.New(rand.NewPCG(6, uint64(kind)<<8|uint64(op)))
		size, unit := kind.Size(), componentSize(kind)
		n := (20*line + 40) / size * size
		a, b := operands(rng, kind, n/size)
		want := expected(kind, op, a, b)
		for range 40 {
			i := rng.IntN(2*line/unit) * unit
			j := i + rng.IntN(2)*rng.IntN(2*line/unit)*unit // half of the time the same place in their lines
			one, two := bytes.Repeat([]byte{0xA5}, n+5*line), bytes.Repeat([]byte{0xA5}, n+5*line)
			Stream(kind, op, one[i:i+n], a, b)
			check(t, "Stream", kind, one[i:i+n], want, a, b)
			Stream2(kind, op, one[i:i+n], two[j:j+n], a, b)
			check(t, "Stream2, first", kind, one[i:i+n], want, a, b)
			check(t, "Stream2, second", kind, two[j:j+n], want, a, b)
			if s := append(one[:i:i], one[i+n:]...); !bytes.Equal(s, bytes.Repeat([]byte{0xA5}, 5*line)) {
				t.Fatalf("%d bytes at offset %d: bytes outside the first destination were written", n, i)
			}
			if s := append(two[:j:j], two[j+n:]...); !bytes.Equal(s, bytes.Repeat([]byte{0xA5}, 5*line)) {
				t.Fatalf("%d bytes at offset %d: bytes outside the second destination were written", n, j)
			}
		}
		x := bytes.Clone(a)
		Stream(kind, op, x, x, b)
		check(t, "Stream in place", kind, x, want, a, b)
		x, y := bytes.Clone(a), bytes.Clone(b)
		Stream2(kind, op, x, y, x, y)
		check(t, "Stream2 in place", kind, x, want, a, b)
		check(t, "Stream2 in place", kind, y, want, a, b)
	})
}
