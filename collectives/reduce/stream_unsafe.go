package reduce

import "unsafe"

// StreamFrom is the number of bytes, of all operands and all results on a host together, from which Stream, Stream2 and
// All with stream are the faster ones: in an allreduce of r ranks, 2*r times the length. Below it the results would
// still be in a cache when they are read next. Measured with 32 MiB of L3, two cores at work, two operands and two
// results of this many MiB each: Stream2 took 1.9 (1 MiB), 1.04 (4), 0.64 (8), 0.68 (16), 0.70 (64) of Into2's time.
const StreamFrom = 24 << 20

// line is what the processor writes to memory at once.
const line = 64

// Stream is Into with stores that go past the caches where the processor has them. The other cores see the results
// as those of ordinary stores. Worth it from StreamFrom on.
func Stream(kind Kind, op Op, dst, a, b []byte) {
	if len(a) < len(dst) || len(b) < len(dst) {
		tooShort(len(dst), len(a), len(b))
	}
	if hasVectors && len(dst) >= 4*line && !same(dst, a) && !same(dst, b) && aligns(kind, dst) {
		head := lead(dst)
		Into(kind, op, dst[:head], a, b)
		done := head + vectors(kind, op, dst[head:], nil, a[head:], b[head:], true)
		dst, a, b = dst[done:], a[done:], b[done:]
	}
	Into(kind, op, dst, a, b)
}

// Stream2 is Into2 as Stream is Into. Destinations that lie differently in their lines are written with ordinary
// stores.
func Stream2(kind Kind, op Op, dst1, dst2, a, b []byte) {
	if len(dst2) < len(dst1) || len(a) < len(dst1) || len(b) < len(dst1) {
		tooShort(len(dst1), len(dst2), len(a), len(b))
	}
	if hasVectors && len(dst1) >= 4*line && apart(dst1, dst2, a, b) && aligns(kind, dst1) && lead(dst1) == lead(dst2) {
		head := lead(dst1)
		Into2(kind, op, dst1[:head], dst2, a, b)
		done := head + vectors(kind, op, dst1[head:], dst2[head:], a[head:], b[head:], true)
		dst1, dst2, a, b = dst1[done:], dst2[done:], a[done:], b[done:]
	}
	Into2(kind, op, dst1, dst2, a, b)
}

// apart reports that nothing is reduced in place: a line that was just read is in a cache, and to write past it took
// 1.1 to 5 times as long.
func apart(dst1, dst2, a, b []byte) bool {
	return !same(dst1, a) && !same(dst1, b) && !same(dst2, a) && !same(dst2, b)
}

func same(x, y []byte) bool { return unsafe.SliceData(x) == unsafe.SliceData(y) }

// aligns reports that the first whole line of dst begins with a whole element.
func aligns(kind Kind, dst []byte) bool { return lead(dst)&(kind.Size()-1) == 0 }

// lead is the number of bytes before the first whole line.
func lead(p []byte) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(p))) & (line - 1))
}
