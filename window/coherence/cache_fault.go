package coherence

// want asks the home for the page because somebody waits for it.
func want(request Kind, next State) cacheStep {
	return func(c *cache, e *entry, m Msg) {
		if e.state == Invalid {
			c.makeRoom(e, m.Page)
		}
		e.flags |= wanted
		c.request(e, m.Page, request, next)
	}
}

// ask asks the home for the page because somebody will need it, if there is room for it.
func ask(request Kind, next State) cacheStep {
	return func(c *cache, e *entry, m Msg) {
		if e.state != Invalid || c.makeRoom(e, m.Page) {
			c.request(e, m.Page, request, next)
		}
	}
}

func (c *cache) request(e *entry, p Page, request Kind, next State) {
	home, known := c.home(e, p)
	if c.dead.has(home) {
		c.fail(e, p, e.state)
		return
	}
	c.enter(e, p, next)
	if !known {
		request = Locate // home is the registrar
	}
	c.send(Msg{Kind: request, To: home, Page: p})
}

// join is a fault on a page in transition: nothing is sent, the grant wakes everybody.
// Who wants to write and was granted reading faults again.
func join(_ *cache, e *entry, _ Msg) { e.flags |= wanted }

// wake is a fault on a page that may be read: it came before the fault was handled,
// or the fault's message is a duplicate.
func wake(c *cache, _ *entry, m Msg) { c.order(Wake, m.Page, NoData) }

// allow is the same for writing. This rank's view may still be protected, when the
// page was granted for another one.
func allow(c *cache, _ *entry, m Msg) {
	c.order(Unprotect, m.Page, NoData)
	c.order(Wake, m.Page, NoData)
}

// located continues a request, now that the page's home is known.
func located(request Kind) cacheStep {
	return func(c *cache, e *entry, m Msg) {
		if e.home != 0 {
			locatedAgain(c, e, m)
			return
		}
		if e.home = m.Host + 1; m.Host == c.self {
			c.used-- // it was counted while its home was not known
		}
		if c.dead.has(m.Host) {
			c.fail(e, m.Page, Invalid)
			return
		}
		c.send(Msg{Kind: request, To: m.Host, Page: m.Page})
	}
}

// locatedAgain: this host is the home, and has learned it from another's request.
func locatedAgain(c *cache, e *entry, m Msg) {
	if e.home != m.Host+1 || m.Host != c.self {
		c.violate(m, e.state.String()+", its home known")
	}
}

// fail ends a request for a page that is lost, in the state that is left.
func fail(left State) cacheStep {
	return func(c *cache, e *entry, m Msg) { c.fail(e, m.Page, left) }
}

func (c *cache) fail(e *entry, p Page, left State) {
	e.flags &^= wanted
	c.enter(e, p, left)
	c.order(Fail, p, NoData)
}
