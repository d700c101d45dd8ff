package reduce

import "fmt"

// Into sets dst[i] = a[i] op b[i] for arrays of the kind, given as bytes.
//
// Preconditions: Valid(kind, op) is nil; a and b are at least as long as dst, which is a whole number of elements;
// dst is a, or b, or overlaps neither. Checked: the lengths of a and b, and a kind and op that do not go together
// (all panic). Bytes past the last whole element are left alone or set to anything.
func Into(kind Kind, op Op, dst, a, b []byte) {
	if len(a) < len(dst) || len(b) < len(dst) {
		tooShort(len(dst), len(a), len(b))
	}
	if hasVectors && len(dst) >= vectorBytes {
		done := vectors(kind, op, dst, nil, a, b, false)
		dst, a, b = dst[done:], a[done:], b[done:]
		if len(dst) == 0 {
			return
		}
	}
	scalar(kind, op, first(dst), first(a), first(b), len(dst))
}

// Into2 sets dst1[i] and dst2[i] to a[i] op b[i] in one pass over the operands: what one rank does in the zero-copy
// allreduce of two. Either destination may be a, b or the other destination. Otherwise as Into; the lengths of
// dst2, a and b are at least that of dst1.
func Into2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	if len(dst2) < len(dst1) || len(a) < len(dst1) || len(b) < len(dst1) {
		tooShort(len(dst1), len(dst2), len(a), len(b))
	}
	if hasVectors && len(dst1) >= vectorBytes {
		done := vectors(kind, op, dst1, dst2, a, b, false)
		dst1, dst2, a, b = dst1[done:], dst2[done:], a[done:], b[done:]
	}
	scalar2(kind, op, dst1, dst2, a, b)
}

// scalar2 goes block by block, so that the copy reads from the nearest cache. Within a block the operands are all
// read before dst2 is written, which is what lets dst2 be one of them.
func scalar2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	const block = 8 << 10
	for len(dst1) > 0 {
		n := min(len(dst1), block)
		scalar(kind, op, first(dst1), first(a), first(b), n)
		copy(dst2, dst1[:n])
		dst1, dst2, a, b = dst1[n:], dst2[n:], a[n:], b[n:]
	}
}

// stretch is the most that one call of a kernel handles: a goroutine is not stopped inside assembly, and whoever
// stops the world waits for it. This is some 10 us.
const stretch = 64 << 10

// vectors does the vectors that dst is made of, in second too unless it is nil, and returns how many bytes they are: 0
// if there is no kernel. With stream, the destinations are aligned to vectorBytes.
func vectors(kind Kind, op Op, dst, second, a, b []byte, stream bool) (done int) {
	for whole := len(dst) &^ (vectorBytes - 1); done < whole; {
		n := min(whole-done, stretch)
		var also *byte
		if second != nil {
			also = &second[done]
		}
		if !vector(kind, op, &dst[done], also, &a[done], &b[done], n, stream) {
			return 0
		}
		done += n
	}
	return done
}

// tooShort tells a caller inside the house that it did not check its lengths.
//
//go:noinline
func tooShort(want int, lengths ...int) {
	panic(fmt.Sprintf("reduce: arrays of %v bytes cannot make %d bytes of results", lengths, want))
}
