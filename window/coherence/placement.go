package coherence

// placement says where a page's home is.
type placement struct {
	blocks     []uint8 // the host of each block of pages: its home or, with first touch, its registrar
	blockPages Page
	firstTouch bool
}

// home is the page's home, or its registrar and false while the home is not known.
func (c *cache) home(e *entry, p Page) (host uint8, known bool) {
	switch {
	case !c.firstTouch:
		return c.blocks[p/c.blockPages], true
	case e.home == 0:
		return c.blocks[p/c.blockPages], false
	}
	return e.home - 1, true
}

func (c *cache) isHome(e *entry, p Page) bool {
	home, known := c.home(e, p)
	return known && home == c.self
}

// registrar remembers, for the pages of its blocks, who touched them first.
//
//	Invariant: once a page's home is told to anybody, it never changes
type registrar struct {
	*port
	homes table[uint8] // host + 1
}

// locate makes the first who asks the home.
func (r *registrar) locate(m Msg) {
	home := r.homes.at(m.Page)
	if *home == 0 {
		*home = m.From + 1
	}
	r.send(Msg{Kind: Located, To: m.From, Page: m.Page, Host: *home - 1})
}
