package coherence

// unlessBusy leaves pages alone that are held, or that are stored here: the home's
// copy is the page's memory.
func unlessBusy(do cacheStep) cacheStep {
	return func(c *cache, e *entry, m Msg) {
		if e.flags&held == 0 && !c.isHome(e, m.Page) {
			do(c, e, m)
		}
	}
}

// evictShared says nothing to the home. It may invalidate the copy once more, which
// costs a message only for pages that are written later; telling it would cost one
// for each.
func evictShared(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Invalid)
	c.order(Discard, m.Page, NoData)
	c.order(Wake, m.Page, NoData)
}

// evictModified needs no answer: whatever the home demands meanwhile is answered
// behind the WriteBack.
func evictModified(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Invalid)
	c.order(Protect, m.Page, NoData)
	c.order(Save, m.Page, NoData)
	c.order(Discard, m.Page, NoData)
	c.order(Wake, m.Page, NoData)
	c.answer(e, m.Page, WriteBack, Saved)
}

// list enters a page of another home into the order of eviction.
func (c *cache) list(e *entry, p Page) {
	if c.limit > 0 && e.flags&listed == 0 && !c.isHome(e, p) {
		e.flags |= listed
		c.oldest.push(p)
	}
}

// makeRoom evicts pages, those that came first, until there is room for page p. Accesses
// that hit are not seen, so no better order is known. Pages that are held or asked for
// are passed over; if all are, there is no room, and who waits for p exceeds the limit
// rather than wait for others.
func (c *cache) makeRoom(e *entry, p Page) bool {
	if c.limit == 0 || c.isHome(e, p) {
		return true
	}
	c.shrink(c.limit - 1)
	return c.used < c.limit
}

// keepLimit evicts what exceeds the limit and is not busy any more. It is the end of every
// Step.
func (c *cache) keepLimit() {
	if c.limit > 0 {
		c.shrink(c.limit)
	}
}

// shrink evicts pages until there are as few, or all are busy.
func (c *cache) shrink(most int) {
	for n := c.oldest.len(); n > 0 && c.used > most; n-- {
		c.evict(c.oldest.pop())
	}
}

// tooMany is by how many pages the limit is exceeded.
func (c *cache) tooMany() int {
	if c.limit == 0 {
		return 0
	}
	return max(0, c.used-c.limit)
}

func (c *cache) evict(p Page) {
	e := c.entries.at(p)
	e.flags &^= listed
	if e.state == Invalid {
		return
	}
	if c.step(Msg{Kind: Evict, From: c.self, To: c.self, Page: p}); e.state != Invalid {
		c.list(e, p)
	}
}

// ring is a queue of pages that grows when it must.
type ring struct {
	pages      []Page // its length is a power of two
	head, tail uint   // Invariant: tail - head <= len(pages)
}

func (r *ring) len() int { return int(r.tail - r.head) }

func (r *ring) push(p Page) {
	if r.len() == len(r.pages) {
		r.grow()
	}
	r.pages[r.tail%uint(len(r.pages))] = p
	r.tail++
}

// pop needs a page to be there.
func (r *ring) pop() Page {
	p := r.pages[r.head%uint(len(r.pages))]
	r.head++
	return p
}

func (r *ring) grow() {
	larger := make([]Page, max(16, 2*len(r.pages)))
	n := r.len()
	for i := range n {
		larger[i] = r.pages[(r.head+uint(i))%uint(len(r.pages))]
	}
	r.pages, r.head, r.tail = larger, 0, uint(n)
}
