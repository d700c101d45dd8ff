package reduce

// Into sets dst[i] = a[i] op b[i] for arrays of the kind, given as bytes.
//
// Preconditions: Valid(kind, op) is nil; a and b are at least as long as dst, which is a whole number of elements;
// dst is a, or b, or overlaps neither. Checked: the lengths of a and b, and a kind and op that do not go together
// (all panic); bytes past the last whole element are left alone.
func Into(kind Kind, op Op, dst, a, b []byte) {
	a, b = a[:len(dst)], b[:len(dst)]
	scalar(kind, op, dst, a, b)
}

// Into2 sets dst1[i] and dst2[i] to a[i] op b[i] in one pass over the operands: what one rank does in the zero-copy
// allreduce of two. Either destination may be a, b or the other destination. Otherwise as Into; the lengths of
// dst2, a and b are at least that of dst1.
func Into2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	dst2, a, b = dst2[:len(dst1)], a[:len(dst1)], b[:len(dst1)]
	scalar2(kind, op, dst1, dst2, a, b)
}

// scalar2 goes block by block, so that the copy reads from the nearest cache. Within a block the operands are all
// read before dst2 is written, which is what lets dst2 be one of them.
func scalar2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	const block = 8 << 10
	for len(dst1) > block {
		scalar(kind, op, dst1[:block], a, b)
		copy(dst2, dst1[:block])
		dst1, dst2, a, b = dst1[block:], dst2[block:], a[block:], b[block:]
	}
	scalar(kind, op, dst1, a, b)
	copy(dst2, dst1)
}
