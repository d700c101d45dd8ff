// Package copying copies large memory at the speed the machine has. It is what Put and Get between the ranks of one
// host come down to.
//
// Go's own copy is the fastest there is for short and for very long copies, and it stays the only machine code
// here. Between the two it gives up the caches too early, and very long ones hold up the scheduler; Copy cuts both
// up. docs/kernels.md has the figures.
//
// All functions are safe for concurrent use on memory that nobody else writes. The race detector sees every access
// to memory it watches.
package copying

const (
	// Up to this length nothing is better than copy. From 1 MiB on, copy on amd64 writes past the caches with
	// non-temporal stores, which costs half as much again as long as both sides fit the last cache:
	// 1 MiB took 49 us, and 30 us in blocks below that length (32 MiB of L3).
	short = 1<<20 - 1

	// From this length on the source and the target together are half of a 32 MiB L3, the data comes from and goes
	// to memory, and non-temporal stores win because they do not first read what they overwrite: 16 MiB took
	// 1.0 ms, and 1.5 ms in blocks. At 8 MiB the two are equal.
	long = 8 << 20

	// Any cachedBlock of up to short is as good as another (64 KiB, 512 KiB and 1 MiB less a line differ by less than
	// the noise); this one is long enough for the call to cost nothing.
	cachedBlock = 64 << 10

	// A goroutine cannot be stopped inside copy, and whoever stops the world, the garbage collector first, would
	// wait for all of a long one: 64 MiB took 5 ms. A streamedBlock takes 0.13 ms and costs nothing; at 1 MiB a
	// block it cost up to 10 %.
	streamedBlock = 2 << 20
)

// Copy copies min(len(dst), len(src)) bytes and returns their number, as the builtin copy does, but dst and src must
// not overlap unless they are identical.
//
// When both addresses and the number of bytes are multiples of 8, each 8-byte word is read and written whole: a word
// that another rank stores meanwhile with sync/atomic arrives as it was before or after, never as a mixture. The
// same holds for 4. The order of the words among each other is not promised, and each may be written more than
// once. docs/kernels.md says what this rests on.
func Copy(dst, src []byte) int {
	if len(dst) <= short || len(src) <= short {
		return copy(dst, src)
	}
	return blocks(dst, src)
}

// blocks is kept out of line so that Copy can be inlined in its callers.
//
//go:noinline
func blocks(dst, src []byte) int {
	n, block := min(len(dst), len(src)), cachedBlock
	if n >= long {
		block = streamedBlock
	}
	dst, src = dst[:n], src[:n]
	for len(dst) > block {
		copy(dst[:block], src[:block])
		dst, src = dst[block:], src[block:]
	}
	copy(dst, src)
	return n
}
