package main

import (
	"strings"
	"testing"
)

func TestRefKeepsItsParts(t *testing.T) {
	for _, rank := range []int{0, 1, maxRanks - 1} {
		for _, offset := range []int{0, 1, maxHeapWords - 1} {
			for _, length := range []int{1, 8, 9, maxIdentifier} {
				r := makeRef(rank, offset, length)
				if r == 0 || r.rank() != rank || r.offset() != offset || r.length() != length || r.words() != (length+7)/8 {
					t.Errorf("makeRef(%d, %d, %d) has rank %d, offset %d, length %d, words %d",
						rank, offset, length, r.rank(), r.offset(), r.length(), r.words())
				}
			}
		}
	}
}

func FuzzPack(f *testing.F) {
	for _, s := range []string{"x", "12345678", "123456789", "世界", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words := make([]uint64, wordsOf(len(s)))
		for i := range words {
			words[i] = ^uint64(0) // what an earlier use left
		}
		pack(words, s)
		if got := unpack(words, len(s)); got != s {
			t.Errorf("%q comes back as %q", s, got)
		}
		// Comparing words compares identifiers only if the padding is equal.
		other := make([]uint64, len(words))
		pack(other, strings.Clone(s))
		for i := range words {
			if words[i] != other[i] {
				t.Errorf("%q: word %d depends on what was there", s, i)
			}
		}
	})
}

// TestPlaceStaysInside: every hash has a slot of an existing region, also where
// nobody needs one.
func TestPlaceStaysInside(t *testing.T) {
	l := layoutFor([]uint64{0, 1, 1000})
	seen := map[int]bool{}
	for hash := range uint64(10_000) {
		owner, slot := l.place(hash * 0x9e3779b97f4a7c15)
		if owner < 0 || owner > 2 || slot >= l.slots[owner] {
			t.Fatalf("hash %d: slot %d of rank %d", hash, slot, owner)
		}
		seen[owner] = true
	}
	if len(seen) != 3 {
		t.Errorf("hashes fell to %d of 3 ranks", len(seen))
	}
}
