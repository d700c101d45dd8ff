package coherence

// takeBack ends a request of a host that has died: what was taken from others for it
// goes to the home. An upgrade's only copy may have died with it.
func (d *directory) takeBack(s *hostSet, t *transaction) {
	switch {
	case s.has(d.self):
		if t.data != NoData {
			d.order(Free, t.page, t.data)
		}
	case t.data != NoData:
		d.restore(t, t.data)
		*s = s.with(d.self)
	default:
		d.lose(s, t)
	}
	t.data = NoData
}

// lose answers everybody who waits for the page, and marks it.
func (d *directory) lose(s *hostSet, t *transaction) {
	for _, r := range append(t.queue, t.by) {
		if !d.dead.has(r.host) {
			d.send(Msg{Kind: Lost, To: r.host, Page: t.page})
		}
	}
	*s, t.queue, t.awaited = lost, t.queue[:0], 0
}

// hostDied counts the dead host's copies as gone and its acknowledgements as given.
func (d *directory) hostDied(host uint8) {
	d.sharers.each(func(p Page, s *hostSet) {
		t := d.active[p]
		sole := s.isOnly(host)
		if *s != lost {
			*s = s.without(host)
		}
		switch {
		case t != nil:
			d.serveWithout(host, sole, s, t)
		case sole:
			*s = lost
		}
	})
}

// serveWithout goes on with a transaction that the dead host took part in.
func (d *directory) serveWithout(host uint8, sole bool, s *hostSet, t *transaction) {
	t.queue = withoutHost(t.queue, host)
	waited := t.awaited.has(host)
	t.awaited = t.awaited.without(host)
	switch {
	case sole && t.data == NoData:
		d.lose(s, t)
		d.endTransaction(t)
	case waited:
		d.proceed(s, t)
	}
}

func withoutHost(queue []request, host uint8) []request {
	kept := queue[:0]
	for _, r := range queue {
		if r.host != host {
			kept = append(kept, r)
		}
	}
	return kept
}

// hostDied ends what the dead host can no longer answer. Copies of pages whose home
// died remain: nobody can be granted them for writing any more, so they stay true.
func (c *cache) hostDied(host uint8) {
	c.entries.each(func(p Page, e *entry) {
		home, _ := c.home(e, p)
		if home != host {
			return
		}
		if e.demand != None {
			e.demand = None
			c.putOff--
		}
		switch e.state {
		case Reading, Writing:
			c.fail(e, p, Invalid)
		case Upgrading:
			c.fail(e, p, Shared)
		}
	})
}
