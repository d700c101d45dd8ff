package main

import "hash/fnv"

// slotWords is the size of one slot: a reference to the identifier's bytes (0
// while the slot is free), then its count.
const (
	slotWords = 2
	countWord = 1
)

// layout says where things lie in the table's window. It is the same on every
// rank. A rank's region holds its slots, then its heap: the bytes of the
// identifiers that this rank counted.
type layout struct {
	slots []uint64 // slots[r] is the number of slots in rank r's region
}

// layoutFor sizes the table. need[r] is the sum, over all ranks, of how many
// different identifiers a rank has for the region of r. One that several ranks
// met is counted several times, so the slots are at most half full: the table
// cannot overflow and never has to grow.
func layoutFor(need []uint64) layout {
	slots := make([]uint64, len(need))
	for r, n := range need {
		slots[r] = 2*n + 1
	}
	return layout{slots}
}

// heap is the displacement of rank's heap in its region, in words.
func (l layout) heap(rank int) int { return int(l.slots[rank]) * slotWords }

// place is the region that an identifier with this hash belongs to, and the slot
// there at which probing for it starts.
func (l layout) place(hash uint64) (owner int, slot uint64) {
	ranks := uint64(len(l.slots))
	owner = int(hash % ranks)
	return owner, hash / ranks % l.slots[owner]
}

// hashOf must agree between all ranks, on whatever host they run: so it has no
// random seed. A collision costs a comparison and nothing else.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

// ref says where the bytes of an identifier lie: in the heap of rank, at offset
// (in words), length bytes long. No identifier is empty, so a ref is never 0.
type ref uint64

const (
	lengthBits = 16
	rankBits   = 16
	offsetBits = 32

	maxRanks     = 1 << rankBits
	maxHeapWords = 1 << offsetBits
)

func makeRef(rank, offset, length int) ref {
	return ref(length)<<(rankBits+offsetBits) | ref(rank)<<offsetBits | ref(offset)
}

func (r ref) length() int { return int(r >> (rankBits + offsetBits)) }
func (r ref) rank() int   { return int(r>>offsetBits) % maxRanks }
func (r ref) offset() int { return int(r % maxHeapWords) }
func (r ref) words() int  { return wordsOf(r.length()) }

// wordsOf is the room that length bytes take in a heap.
func wordsOf(length int) int { return (length + 7) / 8 }

// pack writes name into words, first byte lowest, the rest of the last word 0.
// The order is fixed so that hosts of different byte order agree.
func pack(words []uint64, name string) {
	clear(words)
	for i := range len(name) {
		words[i/8] |= uint64(name[i]) << (i % 8 * 8)
	}
}

func unpack(words []uint64, length int) string {
	name := make([]byte, length)
	for i := range name {
		name[i] = byte(words[i/8] >> (i % 8 * 8))
	}
	return string(name)
}
