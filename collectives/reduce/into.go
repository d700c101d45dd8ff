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
	a, b = a[:len(dst)], b[:len(dst)]
	if hasVectors && len(dst) >= vectorBytes {
		whole := vectors(kind, op, dst, a, b)
		dst, a, b = dst[whole:], a[whole:], b[whole:]
		if len(dst) == 0 {
			return
		}
	}
	scalar(kind, op, dst, a, b)
}

// stretch is the most that one call of a kernel handles: a goroutine is not stopped inside assembly, and whoever
// stops the world waits for it. This is some 10 us.
const stretch = 64 << 10

// vectors does the vectors that dst is made of and returns how many bytes they are, 0 if there is no kernel.
func vectors(kind Kind, op Op, dst, a, b []byte) (done int) {
	for whole := len(dst) &^ (vectorBytes - 1); done < whole; {
		n := min(whole-done, stretch)
		if !vector(kind, op, &dst[done], &a[done], &b[done], n) {
			return 0
		}
		done += n
	}
	return done
}

// Into2 sets dst1[i] and dst2[i] to a[i] op b[i] in one pass over the operands: what one rank does in the zero-copy
// allreduce of two. Either destination may be a, b or the other destination. Otherwise as Into; the lengths of
// dst2, a and b are at least that of dst1.
func Into2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	if len(dst2) < len(dst1) || len(a) < len(dst1) || len(b) < len(dst1) {
		tooShort(len(dst1), len(dst2), len(a), len(b))
	}
	// Block by block, so that the copy reads from the nearest cache. Within a block the operands are all read before
	// dst2 is written, which is what lets dst2 be one of them.
	const block = 8 << 10
	for len(dst1) > block {
		Into(kind, op, dst1[:block], a, b)
		copy(dst2, dst1[:block])
		dst1, dst2, a, b = dst1[block:], dst2[block:], a[block:], b[block:]
	}
	Into(kind, op, dst1, a, b)
	copy(dst2, dst1)
}

// tooShort tells a caller inside the house that it did not check its lengths.
//
//go:noinline
func tooShort(want int, lengths ...int) {
	panic(fmt.Sprintf("reduce: arrays of %v bytes cannot make %d bytes of results", lengths, want))
}
