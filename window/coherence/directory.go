package coherence

import "slices"

// directory is the home's side: who has a copy of each page, and who comes next.
type directory struct {
	*port
	steps *[dirStates][kinds]dirStep

	// sharers is who may have a copy: eight bytes a page.
	//
	//	Invariant: {h : h has a copy of p, or is about to be told so} ⊆ sharers(p)
	//	Invariant: p copied and home ∉ sharers(p)  =>  |sharers(p)| = 1, and that host may write
	//	Invariant: sharers(p) = ∅  =>  nobody has touched p: it is zero
	sharers table[hostSet]
	active  map[Page]*transaction
	spare   []*transaction
	dead    *hostSet
}

// dirState is a page's state at its home.
type dirState uint8

const (
	untouched dirState = iota // nobody has it, its content is zero
	copied                    // somebody has it, nothing is under way
	busy                      // a request is being served: it has a transaction
	isLost                    // its content is gone
	dirStates
)

// A request is what a host wants of a page: Read, Write or Upgrade.
type request struct {
	kind Kind
	host uint8
}

// A transaction serves one request; others for the page wait in the queue, first
// come first served. A host has at most one request for a page, so the queue is
// shorter than the number of hosts.
//
//	Invariant: awaited ⊆ sharers(page), or the host has just written back
//	Invariant: data != NoData  =>  it is the page's content, and nobody may write
type transaction struct {
	page    Page
	by      request
	awaited hostSet // whose acknowledgement is missing
	data    Data
	queue   []request
}

// A dirStep is what a message does to a page in one state. t is nil unless the page
// is busy.
type dirStep func(d *directory, s *hostSet, t *transaction, m Msg)

// dirSteps has a function for each state and message. What is missing is a violation
// of the protocol.
var dirSteps = [dirStates][kinds]dirStep{
	untouched: {Read: open, Write: open},
	copied:    {Read: open, Write: open, Upgrade: open, WriteBack: storeBack},
	busy: {Read: enqueue, Write: enqueue, Upgrade: enqueue, WriteBack: keepWriteBack,
		InvalidateAck: invalidated, FetchAck: fetched},
	isLost: {Read: refuse, Write: refuse, Upgrade: refuse},
}

func (d *directory) state(s hostSet, t *transaction) dirState {
	switch {
	case t != nil:
		return busy
	case s == lost:
		return isLost
	case s == 0:
		return untouched
	}
	return copied
}

func (d *directory) step(m Msg) {
	s, t := d.sharers.at(m.Page), d.active[m.Page]
	state := d.state(*s, t)
	do := d.steps[state][m.Kind]
	if do == nil {
		d.violate(m, state.String())
		return
	}
	do(d, s, t, m)
}

// open starts serving a request.
func open(d *directory, s *hostSet, _ *transaction, m Msg) {
	t := d.newTransaction(m.Page)
	t.by = request{m.Kind, m.From}
	d.serve(s, t)
}

func enqueue(d *directory, _ *hostSet, t *transaction, m Msg) {
	if t.by.host == m.From || slices.ContainsFunc(t.queue, func(r request) bool { return r.host == m.From }) {
		d.violate(m, "asked for by that host already")
		return
	}
	t.queue = append(t.queue, request{m.Kind, m.From})
}

func refuse(d *directory, _ *hostSet, _ *transaction, m Msg) {
	d.send(Msg{Kind: Lost, To: m.From, Page: m.Page})
}

// serve works on t and what is queued behind it until an acknowledgement has to be
// waited for or nothing is left.
func (d *directory) serve(s *hostSet, t *transaction) {
	for {
		d.demand(s, t)
		if t.awaited != 0 || d.err != nil {
			return
		}
		if d.finish(s, t); len(t.queue) == 0 {
			d.endTransaction(t)
			return
		}
		d.next(t)
	}
}

// proceed goes on when the last acknowledgement is there.
func (d *directory) proceed(s *hostSet, t *transaction) {
	if t.awaited != 0 {
		return
	}
	if d.finish(s, t); len(t.queue) == 0 {
		d.endTransaction(t)
		return
	}
	d.next(t)
	d.serve(s, t)
}

func (d *directory) next(t *transaction) {
	t.by = t.queue[0]
	t.queue = slices.Delete(t.queue, 0, 1)
}

func (d *directory) newTransaction(p Page) *transaction {
	if len(d.spare) == 0 {
		d.spare = append(d.spare, &transaction{})
	}
	last := len(d.spare) - 1
	t := d.spare[last]
	d.spare = d.spare[:last]
	t.page = p
	d.active[p] = t
	return t
}

func (d *directory) endTransaction(t *transaction) {
	delete(d.active, t.page)
	*t = transaction{queue: t.queue[:0]}
	d.spare = append(d.spare, t)
}
