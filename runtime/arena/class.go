package arena

import "math/bits"

const (
	// lineAlign is the alignment of every extent: a cache line on amd64 and most
	// of arm64, so no two allocations share one.
	lineAlign = 64
	// hugePage is the alignment of large extents where it costs little.
	hugePage = 2 << 20
	// bigFrom is where size classes end. Larger extents are whole multiples of
	// hugePage, so at most a ninth of them is slack, and are reused where they fit.
	bigFrom = 16 << 20
	// maxBytes is the largest request that is looked at: half of an address space.
	maxBytes = 1 << 46
)

// A band groups sizes that are placed alike.
type band uint8

const (
	small band = iota // less than a page: aligned to a line, cut from slabs
	pages             // aligned to a page
	big               // above bigFrom: no classes
)

// A class is the size an extent really gets. A band's classes are 1, 2, 3 and 4
// units (lines or pages) and then four to a doubling: beyond four units at most a
// fifth of an extent is slack.
type class struct {
	band  band
	index int   // of its free list, in its band
	size  int64 // bytes
}

// classes maps requests to classes, for one page size.
type classes struct{ page int64 }

func newClasses(page int) classes { return classes{int64(page)} }

// of returns the smallest class that holds bytes. Precondition: 0 < bytes <=
// maxBytes.
func (c classes) of(bytes int64) class {
	if i, size := step(bytes, lineAlign); size < c.page {
		return class{small, i, size}
	}
	if bytes <= bigFrom {
		i, size := step(bytes, c.page)
		return class{pages, i, size}
	}
	return class{band: big, size: roundUp(bytes, hugePage)}
}

// step rounds up to a multiple of unit: to 1, 2, 3 or 4 of them, and beyond that
// to a power of two or one of the three steps before it. index counts the
// results from 0.
func step(bytes, unit int64) (index int, size int64) {
	n := (bytes + unit - 1) / unit
	if n <= 4 {
		return int(n - 1), n * unit
	}
	// 2^(shift+2) < n <= 2^(shift+3): the steps are 2^shift wide.
	shift := bits.Len64(uint64(n-1)) - 3
	steps := (n - 1) >> shift // 4..7
	return 4*shift + int(steps), (steps + 1) << shift * unit
}

// lists is how many free lists a band needs: pages of 4 KiB give 44, small
// extents below pages of 64 KiB give 36.
const lists = 48

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }
