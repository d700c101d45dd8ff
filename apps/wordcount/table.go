package main

import (
	"fmt"
	"iter"
	"slices"
)

// memory is the part of *window.Window[uint64] that the table stands on.
// Displacements are in words. A Get is complete after the Flush.
type memory interface {
	Get(target, disp int, dst []uint64) error
	Flush(target int) error
	FetchAdd(target, disp int, v uint64) (uint64, error)
	CompareAndSwap(target, disp int, old, new uint64) (uint64, error)
}

// table is a hash table spread over the regions of a window: an identifier
// belongs to rank hash % ranks, and there to the first slot, probing onwards
// from its home, that refers to its bytes or is free.
//
// Publication. Bytes come first and the reference second: each rank copies the
// identifiers it has counted into its own heap, and a fence stands between that
// and the first access to a slot. From then on the heaps do not change. So a
// slot is claimed and published by one CompareAndSwap, of 0 to a reference whose
// bytes everybody can read already: there is no claimed slot without bytes, no
// reader waits for a writer, and a rank that dies at any point leaves a table
// that the others can use. Of ranks that race for a free slot one wins; the
// others see its reference, compare the bytes, and add to its count or move on.
// The price is that an identifier's bytes lie in the heap of every rank that
// counted it, and not only of the one whose reference is in the slot.
//
// Memory ordering. Heap bytes are plain memory, ordered by the fence. References
// change once, by CompareAndSwap, which also is how they are read; counts change
// by FetchAdd. Slots are read as plain memory only after the next fence.
//
// A table is one rank's handle: not safe for several goroutines.
type table struct {
	layout
	mem     memory
	me      int
	local   []uint64 // this rank's region
	used    int      // words of this rank's heap that hold identifiers
	scratch []uint64 // another identifier's words, while they are compared
	hash    func(string) uint64
}

func newTable(l layout, mem memory, me int, local []uint64) *table {
	return &table{layout: l, mem: mem, me: me, local: local, hash: hashOf}
}

// keep copies name into this rank's heap, which must have room for it. Nobody
// may use the reference before the fence that follows the last keep.
func (t *table) keep(name string) ref {
	r := makeRef(t.me, t.used, len(name))
	pack(t.own(r), name)
	t.used += r.words()
	return r
}

// own is the words of a reference into this rank's heap.
func (t *table) own(r ref) []uint64 {
	start := t.heap(t.me) + r.offset()
	return t.local[start : start+r.words()]
}

// add counts n more of the identifier that mine, a reference made by keep,
// refers to.
func (t *table) add(name string, mine ref, n uint64) error {
	owner, home := t.place(t.hash(name))
	slots := t.slots[owner]
	for i := range slots {
		disp := int((home+i)%slots) * slotWords
		found, err := t.mem.CompareAndSwap(owner, disp, 0, uint64(mine))
		if err != nil {
			return err
		}
		same := found == 0
		if !same {
			if same, err = t.equal(ref(found), mine); err != nil {
				return err
			}
		}
		if same {
			_, err = t.mem.FetchAdd(owner, disp+countWord, n)
			return err
		}
	}
	return fmt.Errorf("rank %d: table: %q has no place: all %d slots of rank %d are taken", t.me, name, slots, owner)
}

// equal reports whether theirs refers to the same bytes as mine.
func (t *table) equal(theirs, mine ref) (bool, error) {
	if theirs.length() != mine.length() {
		return false, nil
	}
	words, err := t.fetch(theirs)
	return slices.Equal(words, t.own(mine)), err
}

// fetch returns the words of any reference; they are valid until the next fetch.
func (t *table) fetch(r ref) ([]uint64, error) {
	if n := r.words(); n > len(t.scratch) {
		t.scratch = make([]uint64, n)
	}
	words := t.scratch[:r.words()]
	if err := t.mem.Get(r.rank(), t.heap(r.rank())+r.offset(), words); err != nil {
		return nil, err
	}
	return words, t.mem.Flush(r.rank())
}

// name returns the identifier that a reference refers to.
func (t *table) name(r ref) (string, error) {
	words, err := t.fetch(r)
	if err != nil {
		return "", err
	}
	return unpack(words, r.length()), nil
}

// entry is one identifier of the table.
type entry struct {
	Ref   ref
	Count uint64
}

// entries yields the identifiers of a region's slots: of this rank's own after
// the fence that ends the counting, or of a copy of another rank's.
func entries(slots []uint64) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for slot := range slices.Chunk(slots, slotWords) {
			if slot[0] != 0 && !yield(entry{ref(slot[0]), slot[countWord]}) {
				return
			}
		}
	}
}
