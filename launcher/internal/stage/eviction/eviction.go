// Package eviction decides what a full cache gives up. It is pure.
package eviction

import (
	"cmp"
	"slices"
)

// An Entry is a blob in the cache.
type Entry struct {
	Name string
	Size int64 // in bytes
	Used int64 // when it was used last, in any unit, growing
	Held bool  // a job or a transfer uses it: it stays
}

// Choose returns the blobs that must go so that need more bytes fit under limit,
// those first that were used longest ago, and no more than necessary. Blobs of the
// same age go in the order of their names. It reports false, and no blobs, when
// the bytes do not fit although every blob goes that is not held.
func Choose(entries []Entry, limit, need int64) ([]Entry, bool) {
	free := limit - need // kept above zero by what goes
	loose := make([]Entry, 0, len(entries))
	for _, e := range entries {
		free -= e.Size
		if !e.Held {
			loose = append(loose, e)
		}
	}
	slices.SortFunc(loose, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Used, b.Used), cmp.Compare(a.Name, b.Name))
	})
	n := 0
	for ; free < 0 && n < len(loose); n++ {
		free += loose[n].Size
	}
	if free < 0 {
		return nil, false
	}
	return loose[:n:n], true
}
