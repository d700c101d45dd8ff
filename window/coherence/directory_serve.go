package coherence

import "slices"

// demand asks for what the request needs before it can be granted.
func (d *directory) demand(s *hostSet, t *transaction) {
	switch {
	case *s == 0:
		t.data = Zero
	case t.by.kind != Upgrade && s.isOnly(t.by.host):
		d.violate(Msg{Kind: t.by.kind, From: t.by.host, To: d.self, Page: t.page}, "its own")
	case t.by.kind == Read:
		d.ask(t, d.source(*s), Fetch)
	default:
		d.revoke(s, t)
	}
}

// revoke takes every other copy away, and has one of them sent if the requester has
// none. A requester that says Upgrade had a copy when it said so, and has it still if
// its bit is set: only an Invalidate or a Recall can have taken it, and those clear
// the bit before the Upgrade's turn comes. The bit of one that says Write is left from
// a copy that it has evicted.
func (d *directory) revoke(s *hostSet, t *transaction) {
	if t.by.kind == Write {
		*s = s.without(t.by.host)
	}
	from := s.without(t.by.host)
	if !s.has(t.by.host) {
		source := d.source(from)
		d.ask(t, source, Recall)
		from = from.without(source)
	}
	from.each(func(h uint8) { d.ask(t, h, Invalidate) })
}

// source is who sends the content: the home if it has a copy, else the only owner.
func (d *directory) source(s hostSet) uint8 {
	if s.has(d.self) {
		return d.self
	}
	return s.first()
}

func (d *directory) ask(t *transaction, host uint8, k Kind) {
	t.awaited = t.awaited.with(host)
	d.send(Msg{Kind: k, To: host, Page: t.page})
}

func invalidated(d *directory, s *hostSet, t *transaction, m Msg) {
	if t.by.kind == Read {
		d.violate(m, "read by others")
		return
	}
	*s = s.without(m.From)
	d.acknowledged(s, t, m)
}

// fetched: who has no copy to send has evicted it, and its WriteBack came first.
func fetched(d *directory, s *hostSet, t *transaction, m Msg) {
	if t.by.kind != Read || m.Data == NoData && t.data == NoData {
		d.violate(m, "waiting for its content")
		return
	}
	d.acknowledged(s, t, m)
}

func (d *directory) acknowledged(s *hostSet, t *transaction, m Msg) {
	if !t.awaited.has(m.From) || m.Data != NoData && t.data != NoData {
		d.violate(m, "not waiting for that")
		return
	}
	t.awaited = t.awaited.without(m.From)
	if m.Data != NoData {
		t.data = m.Data
	}
	d.proceed(s, t)
}

// keepWriteBack: the owner evicted the page before it heard of the demand. Its
// acknowledgement follows, without content.
func keepWriteBack(d *directory, s *hostSet, t *transaction, m Msg) {
	if !s.isOnly(m.From) || !t.awaited.has(m.From) || t.data != NoData {
		d.violate(m, "not its to write back")
		return
	}
	*s = s.without(m.From)
	t.data = m.Data
}

// storeBack: the owner evicted the page; now the home has the only copy.
func storeBack(d *directory, s *hostSet, _ *transaction, m Msg) {
	if !s.isOnly(m.From) || m.From == d.self {
		d.violate(m, "not its to write back")
		return
	}
	*s = setOf(d.self)
	d.send(Msg{Kind: Store, To: d.self, Page: m.Page, Data: m.Data})
}

// finish grants the request.
func (d *directory) finish(s *hostSet, t *transaction) {
	switch data := t.data; {
	case d.dead.has(t.by.host):
		d.takeBack(s, t)
	case t.by.kind == Read:
		d.send(Msg{Kind: GrantRead, To: t.by.host, Page: t.page, Data: data})
		if !s.has(d.self) && t.by.host != d.self {
			d.restore(t, data)
		}
		*s = s.with(t.by.host).with(d.self)
	default:
		if *s&^setOf(t.by.host) != 0 || (data == NoData) != s.has(t.by.host) {
			d.violate(Msg{Kind: t.by.kind, From: t.by.host, To: d.self, Page: t.page, Data: data}, "granted to others")
			return
		}
		*s = setOf(t.by.host)
		d.send(Msg{Kind: GrantWrite, To: t.by.host, Page: t.page, Data: data})
	}
	t.data = NoData
}

// restore gives the home its copy, when a writer has had to give the content up. If
// the home itself waits to read, that is its answer; if it waits to write, it has a
// copy from now on.
func (d *directory) restore(t *transaction, data Data) {
	answer := Store
	switch i := slices.IndexFunc(t.queue, func(r request) bool { return r.host == d.self }); {
	case i < 0:
	case t.queue[i].kind == Read:
		t.queue = slices.Delete(t.queue, i, i+1)
		answer = GrantRead
	default:
		t.queue[i].kind = Upgrade
	}
	d.send(Msg{Kind: answer, To: d.self, Page: t.page, Data: data})
}
