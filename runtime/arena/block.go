package arena

type state uint8

const (
	inUse state = iota
	free
	quarantined
)

// A block is one extent: cut from a segment once, handed out many times. Blocks
// are never split or joined; they end when their segment is put to sleep.
type block struct {
	segment *segment
	offset  int64
	class   class
	state   state
	next    *block // in its free list
}

// bytes is the block's memory.
func (b *block) bytes() []byte {
	return b.segment.mem[b.offset : b.offset+b.class.size]
}

// freeLists holds the free blocks, those last freed first: their cache lines are
// the warmest.
type freeLists struct {
	heads [big][lists]*block
	big   *block
}

func (l *freeLists) list(k class) **block {
	if k.band == big {
		return &l.big
	}
	return &l.heads[k.band][k.index]
}

func (l *freeLists) push(b *block) {
	head := l.list(b.class)
	b.next, *head = *head, b
}

// remove takes the blocks of which is says so out and returns how many bytes they are.
func (l *freeLists) remove(is func(*block) bool) (bytes int64) {
	for band := range l.heads {
		for i := range l.heads[band] {
			bytes += filter(&l.heads[band][i], is)
		}
	}
	return bytes + filter(&l.big, is)
}

func filter(at **block, is func(*block) bool) (bytes int64) {
	for *at != nil {
		if is(*at) {
			bytes += unlink(at).class.size
			continue
		}
		at = &(*at).next
	}
	return bytes
}

// pop takes the last freed block of a class, nil when there is none. A big block
// may be larger than asked for by an eighth.
func (l *freeLists) pop(k class) *block {
	if k.band == big {
		return popFit(&l.big, k.size, k.size+k.size/8)
	}
	head := l.list(k)
	if *head == nil {
		return nil
	}
	return unlink(head)
}

// popLarger takes a block that is large enough, however large. It is for when
// memory has run out.
func (l *freeLists) popLarger(k class) *block {
	if k.band != big {
		for i := k.index + 1; i < lists; i++ {
			if head := &l.heads[k.band][i]; *head != nil {
				return unlink(head)
			}
		}
	}
	if k.band == small {
		return l.popLarger(class{band: pages, index: -1, size: k.size})
	}
	return popFit(&l.big, k.size, maxBytes*2)
}

// popFit takes the smallest block of low to high bytes, and of several the one
// freed last.
func popFit(head **block, low, high int64) *block {
	var best **block
	for at := head; *at != nil; at = &(*at).next {
		if size := (*at).class.size; size >= low && size <= high {
			best, high = at, size-1
		}
	}
	if best == nil {
		return nil
	}
	return unlink(best)
}

func unlink(at **block) *block {
	b := *at
	*at, b.next = b.next, nil
	return b
}
