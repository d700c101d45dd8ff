package coherence

// A table has an entry for each page, zero until it is first asked for. It takes
// memory only around pages that were touched: a host pays for the part of the window
// that it uses, not for the window.
type table[T any] struct {
	pages  Page
	chunks []*[chunkPages]T
}

const chunkPages = 512

func newTable[T any](pages Page) table[T] {
	return table[T]{pages, make([]*[chunkPages]T, (uint64(pages)+chunkPages-1)/chunkPages)}
}

// at is the entry of page p.
func (t table[T]) at(p Page) *T {
	chunk := &t.chunks[p/chunkPages]
	if *chunk == nil {
		*chunk = new([chunkPages]T)
	}
	return &(*chunk)[p%chunkPages]
}

// each visits every entry that may have been touched.
func (t table[T]) each(visit func(Page, *T)) {
	for c, chunk := range t.chunks {
		if chunk == nil {
			continue
		}
		first := Page(c * chunkPages)
		for i := range min(chunkPages, t.pages-first) {
			visit(first+i, &chunk[i])
		}
	}
}
