package coherence

func grantRead(c *cache, e *entry, m Msg) {
	if m.Data == NoData {
		c.violate(m, e.state.String())
		return
	}
	c.granted(e, m, Fill, Shared)
}

func grantWrite(c *cache, e *entry, m Msg) {
	if m.Data == NoData {
		c.violate(m, e.state.String())
		return
	}
	c.granted(e, m, FillWritable, Modified)
}

func grantUpgrade(c *cache, e *entry, m Msg) {
	if m.Data != NoData {
		c.violate(m, e.state.String())
		return
	}
	c.granted(e, m, Unprotect, Modified)
}

// granted installs what was granted and lets everybody who waits try again. If
// anybody does, the page stays a while: the thread that faulted has to come to its
// access before the page is taken away, or two hosts that fight over a page pass it
// to and fro and neither advances. (A page that is held already, for readers, is not
// held longer: if others want it, its hold may end before the thread has written. Then the
// page comes back, and is held for that.)
func (c *cache) granted(e *entry, m Msg, how Kind, next State) {
	c.enter(e, m.Page, next)
	c.list(e, m.Page)
	c.order(how, m.Page, m.Data)
	c.order(Wake, m.Page, NoData)
	if e.flags&(wanted|held) == wanted {
		e.flags |= held
		c.order(Hold, m.Page, NoData)
	}
	e.flags &^= wanted
}

// storeAgain gives the home back what it stores, since nobody may write the page.
func storeAgain(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Shared)
	c.order(Fill, m.Page, m.Data)
	c.order(Wake, m.Page, NoData)
}

// storeWhileWriting is the same while the home's own Write is in the queue.
func storeWhileWriting(c *cache, e *entry, m Msg) {
	c.enter(e, m.Page, Upgrading)
	c.order(Fill, m.Page, m.Data)
	c.order(Wake, m.Page, NoData)
}
