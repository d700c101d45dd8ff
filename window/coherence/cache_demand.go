package coherence

// unlessHeld puts a demand off while the page is held. There is at most one: the
// directory waits for its answer.
func unlessHeld(do cacheStep) cacheStep {
	return func(c *cache, e *entry, m Msg) {
		if e.flags&held == 0 {
			do(c, e, m)
			return
		}
		if e.demand != None {
			c.violate(m, e.state.String()+", a demand put off")
			return
		}
		e.demand = m.Kind
		c.putOff++
	}
}

// holdOver ends a hold and does what was demanded meanwhile.
//
// While somebody here waits for the next page, the hold is prolonged: an access across
// the boundary needs both pages at once. Hosts wait for each other only upwards like
// this, so that no circle of them can come about: the hold of the highest page that
// anybody waits for ends.
func holdOver(c *cache, e *entry, m Msg) {
	switch {
	case e.flags&held == 0:
		c.violate(m, e.state.String())
		return
	case c.waitsFor(m.Page + 1):
		c.order(Hold, m.Page, NoData)
		return
	}
	e.flags &^= held
	if e.demand == None {
		return
	}
	demand := Msg{Kind: e.demand, From: m.From, To: m.To, Page: m.Page}
	e.demand = None
	c.putOff--
	c.step(demand)
}

func (c *cache) waitsFor(p Page) bool {
	return p < c.entries.pages && c.entries.at(p).flags&wanted != 0
}

// ackGone answers a demand for a copy that is not there. Either it was readable and
// evicted without a word, or it was writable and its WriteBack is ahead of this.
func ackGone(ack Kind) cacheStep {
	return func(c *cache, e *entry, m Msg) { c.answer(e, m.Page, ack, NoData) }
}

func dropShared(c *cache, e *entry, m Msg)      { c.giveUp(e, m.Page, Invalid, NoData) }
func dropUpgrading(c *cache, e *entry, m Msg)   { c.giveUp(e, m.Page, Writing, NoData) }
func recallShared(c *cache, e *entry, m Msg)    { c.giveUp(e, m.Page, Invalid, Saved) }
func recallUpgrading(c *cache, e *entry, m Msg) { c.giveUp(e, m.Page, Writing, Saved) }

// recallModified: nobody may write any more once the content is read.
func recallModified(c *cache, e *entry, m Msg) {
	c.order(Protect, m.Page, NoData)
	c.giveUp(e, m.Page, Invalid, Saved)
}

// giveUp acknowledges behind the Drop: when the home hears of it, no rank of this
// host reads the page any more.
func (c *cache) giveUp(e *entry, p Page, next State, data Data) {
	c.enter(e, p, next)
	if data == Saved {
		c.order(Save, p, NoData)
	}
	c.order(Drop, p, NoData)
	c.order(Wake, p, NoData)
	c.answer(e, p, InvalidateAck, data)
}

// sendShared: the home's own copy serves a reader.
func sendShared(c *cache, e *entry, m Msg) {
	c.order(Save, m.Page, NoData)
	c.answer(e, m.Page, FetchAck, Saved)
}

func downgrade(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Shared)
	c.order(Protect, m.Page, NoData)
	c.order(Save, m.Page, NoData)
	c.order(Wake, m.Page, NoData)
	c.answer(e, m.Page, FetchAck, Saved)
}

func (c *cache) answer(e *entry, p Page, ack Kind, data Data) {
	home, _ := c.home(e, p)
	c.send(Msg{Kind: ack, To: home, Page: p, Data: data})
}
