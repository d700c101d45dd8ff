package reduce

// allBlock is how much All carries through all operands at a time. What it has so far stays in the nearest cache.
const allBlock = 4 << 10

// All reduces any number of arrays into any number: every dsts[d][i] becomes srcs[0][i] op srcs[1][i] op ..., taken
// from left to right. It reads each operand once and writes each destination once: what one rank does with its part in a
// zero-copy allreduce. With stream, it stores as Stream does.
//
// Preconditions: those of Into, with a destination that is exactly one of the operands or overlaps none; at least one
// destination and one operand; none is shorter than dsts[0]. Checked: the numbers and lengths (panics).
func All(kind Kind, op Op, dsts, srcs [][]byte, stream bool) {
	n := checkAll(dsts, srcs)
	switch {
	case len(srcs) == 1:
		everywhere(dsts, 0, srcs[0][:n])
	case len(srcs) == 2 && len(dsts) <= 2:
		two(kind, op, dsts, srcs, stream)
	default:
		blocks(kind, op, dsts, srcs, stream && !inPlace(dsts, srcs))
	}
}

func checkAll(dsts, srcs [][]byte) (n int) {
	n = len(dsts[0])
	for _, arrays := range [][][]byte{dsts, srcs} {
		for _, p := range arrays {
			if len(p) < n {
				tooShort(n, len(p))
			}
		}
	}
	return n
}

// two hands over to the functions for two operands.
func two(kind Kind, op Op, dsts, srcs [][]byte, stream bool) {
	switch {
	case len(dsts) == 1 && stream:
		Stream(kind, op, dsts[0], srcs[0], srcs[1])
	case len(dsts) == 1:
		Into(kind, op, dsts[0], srcs[0], srcs[1])
	case stream:
		Stream2(kind, op, dsts[0], dsts[1], srcs[0], srcs[1])
	default:
		Into2(kind, op, dsts[0], dsts[1], srcs[0], srcs[1])
	}
}

// blocks reduces all operands but the last into room of its own, so that a destination can be any of them.
func blocks(kind Kind, op Op, dsts, srcs [][]byte, stream bool) {
	var room [allBlock / 8]uint64
	last := srcs[len(srcs)-1]
	for at, n := 0, len(dsts[0]); at < n; at += allBlock {
		end := min(at+allBlock, n)
		sofar := bytesOf(room[:])[:end-at]
		copy(sofar, srcs[0][at:])
		for _, src := range srcs[1 : len(srcs)-1] {
			Into(kind, op, sofar, sofar, src[at:])
		}
		if stream {
			streamPairs(kind, op, dsts, at, sofar, last[at:])
			continue
		}
		Into(kind, op, sofar, sofar, last[at:])
		everywhere(dsts, at, sofar)
	}
}

// streamPairs does the last operation anew for every two destinations: the operands are in the nearest cache, and the
// kernels write to two at once.
func streamPairs(kind Kind, op Op, dsts [][]byte, at int, sofar, last []byte) {
	n := len(sofar)
	for ; len(dsts) > 1; dsts = dsts[2:] {
		Stream2(kind, op, dsts[0][at:at+n], dsts[1][at:], sofar, last)
	}
	if len(dsts) == 1 {
		Stream(kind, op, dsts[0][at:at+n], sofar, last)
	}
}

func everywhere(dsts [][]byte, at int, result []byte) {
	for _, dst := range dsts {
		copy(dst[at:], result)
	}
}

func inPlace(dsts, srcs [][]byte) bool {
	for _, dst := range dsts {
		for _, src := range srcs {
			if same(dst, src) {
				return true
			}
		}
	}
	return false
}
