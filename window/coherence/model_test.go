package coherence

import (
	"fmt"
	"strings"
)

// The model: up to four hosts that share one page, each with the real machine, a
// memory and views of it, and a FIFO wire to each other host. A world is a complete
// state, and a plain value. (Pages do not influence each other except by eviction,
// which may happen here at any time.)

const (
	maxHosts = 4
	wireRoom = 6
	thePage  = Page(0)
)

// The content of a copy: what was last written, or something older. The machines never
// look at contents, so nothing else can matter.
const (
	fresh Data = iota + 1
	stale
)

// A brokenProperty is what an exploration has found.
type brokenProperty struct {
	name string
	why  error
}

func (b *brokenProperty) Error() string { return fmt.Sprintf("%s: %v", b.name, b.why) }

func broken(name string, why error) error { return &brokenProperty{name, why} }

type packet struct {
	kind Kind
	host uint8
	data Data
}

type wire struct {
	n       uint8
	packets [wireRoom]packet
}

// side is one host.
type side struct {
	entry   entry
	memory  Data // the page in the host's memory; NoData: a hole
	open    bool // views may be written
	saved   Data
	timers  uint8 // Holds without their HoldOver
	sharers hostSet
	placed  uint8 // the registrar's word
	busy    bool
	tr      flatTransaction
	dead    hostSet // whom it knows to be dead
	fenced  bool
	failed  bool // was told that the page is lost
}

type flatTransaction struct {
	by      request
	awaited hostSet
	data    Data
	queued  uint8
	queue   [maxHosts]request
}

type world struct {
	n     uint8
	sides [maxHosts]side
	wires [maxHosts][maxHosts]wire
}

// A lab carries out the steps of worlds with one set of machines.
type lab struct {
	n          int
	firstTouch bool
	deaths     int    // how many hosts may die
	faults     []Kind // what may happen beside accesses
	only       string // if not empty: the one property that is looked at
	hosts      [maxHosts]*Host
	out        []Msg
}

func newLab(n int, firstTouch bool, faults ...Kind) *lab {
	l := &lab{n: n, firstTouch: firstTouch, faults: faults}
	for i := range n {
		h, err := New(Config{Self: i, Hosts: n, Pages: 1, Blocks: []uint8{0}, BlockPages: 1, FirstTouch: firstTouch})
		if err != nil {
			panic(err)
		}
		l.hosts[i] = h
	}
	return l
}

func (l *lab) start() world { return world{n: uint8(l.n)} }

// load puts a side's state into its machine, and store takes it back.
func (l *lab) load(w *world, i uint8) *Host {
	h, s := l.hosts[i], &w.sides[i]
	h.port.err, h.dead, h.fenced = nil, s.dead, s.fenced
	*h.cache.entries.at(thePage) = s.entry
	*h.directory.sharers.at(thePage) = s.sharers
	*h.registrar.homes.at(thePage) = s.placed
	clear(h.directory.active)
	if s.busy {
		h.directory.active[thePage] = &transaction{page: thePage, by: s.tr.by, awaited: s.tr.awaited, data: s.tr.data,
			queue: append(make([]request, 0, maxHosts), s.tr.queue[:s.tr.queued]...)}
	}
	return h
}

func (l *lab) store(w *world, i uint8) {
	h, s := l.hosts[i], &w.sides[i]
	s.dead, s.fenced = h.dead, h.fenced
	s.entry, s.sharers, s.placed = *h.cache.entries.at(thePage), *h.directory.sharers.at(thePage), *h.registrar.homes.at(thePage)
	t := h.directory.active[thePage]
	s.busy, s.tr = t != nil, flatTransaction{}
	if t != nil {
		s.tr = flatTransaction{by: t.by, awaited: t.awaited, data: t.data, queued: uint8(copy(s.tr.queue[:], t.queue))}
		copy(s.tr.queue[:], t.queue)
	}
}

// step gives m to host i and carries out what follows.
func (l *lab) step(w *world, i uint8, m Msg) error {
	m.To = i
	h := l.load(w, i)
	zero := fresh // as long as nobody can have written
	if w.sides[i].sharers != 0 {
		zero = stale
	}
	out, err := h.Step(m, l.out[:0])
	l.out = out
	if err != nil {
		return broken("a violation", err)
	}
	l.store(w, i)
	used := m.Data == NoData || w.sides[i].tr.data == m.Data
	for _, o := range out {
		used = used || o.Data == m.Data
		if o.Data == Zero {
			o.Data = zero
		}
		if err := w.carryOut(i, o); err != nil {
			return err
		}
	}
	if !used {
		return broken("data is kept", fmt.Errorf("the content that %v brought to host %d has vanished", m.Kind, i))
	}
	if s := &w.sides[i]; s.tr.data != Saved {
		s.saved = NoData // sent, or never to be used
	}
	return nil
}

func (w *world) carryOut(i uint8, o Msg) error {
	s := &w.sides[i]
	if o.Data == Saved {
		o.Data = s.saved
	}
	if !o.Kind.isOrder() {
		return w.wires[i][o.To].push(packet{o.Kind, o.Host, o.Data})
	}
	return s.obey(o)
}

// obey is what the pager would do, and what the kernel would answer.
func (s *side) obey(o Msg) error {
	switch hole := s.memory == NoData; o.Kind {
	case Fill, FillWritable:
		if !hole || o.Data == NoData {
			return broken("orders fit", fmt.Errorf("%v: a page is there, or nothing to fill it with", o.Kind))
		}
		s.memory, s.open = o.Data, o.Kind == FillWritable
	case Unprotect, Protect, Save, Drop, Discard:
		if hole {
			return broken("orders fit", fmt.Errorf("%v: no page is there", o.Kind))
		}
		s.change(o.Kind)
	case Hold:
		s.timers++
	case Fail:
		s.failed = true
	case Kill:
		s.memory, s.open = NoData, false
	}
	return nil
}

func (s *side) change(k Kind) {
	switch k {
	case Unprotect:
		s.open = true
	case Protect:
		s.open = false
	case Save:
		s.saved = s.memory
	case Drop, Discard:
		s.memory, s.open = NoData, false
	}
}

func (x *wire) push(p packet) error {
	if x.n == wireRoom {
		return broken("wires are short", fmt.Errorf("more than %d messages between two hosts", wireRoom))
	}
	x.packets[x.n] = p
	x.n++
	return nil
}

func (x *wire) pop() packet {
	p := x.packets[0]
	copy(x.packets[:], x.packets[1:])
	x.n--
	x.packets[x.n] = packet{}
	return p
}

// write stores to the page at host i: every other content is older from now on.
func (w *world) write(i uint8) {
	w.contents(func(d *Data) {
		if *d == fresh {
			*d = stale
		}
	})
	w.sides[i].memory = fresh
}

// contents visits every content there is.
func (w *world) contents(visit func(*Data)) {
	for i := range w.n {
		s := &w.sides[i]
		visit(&s.memory)
		visit(&s.saved)
		if s.busy && s.tr.data != Saved {
			visit(&s.tr.data)
		}
		for j := range w.n {
			x := &w.wires[i][j]
			for k := range x.n {
				visit(&x.packets[k].data)
			}
		}
	}
}

// home is the page's home, if it has one yet.
func (l *lab) home(w *world) (uint8, bool) {
	if !l.firstTouch {
		return 0, true
	}
	return w.sides[0].placed - 1, w.sides[0].placed != 0
}

func (w world) String() string {
	var b strings.Builder
	for i := range w.n {
		s := &w.sides[i]
		fmt.Fprintf(&b, "host %d: %v", i, s.entry.state)
		for _, note := range []struct {
			is   bool
			text string
		}{
			{s.entry.flags&held != 0, " held"}, {s.entry.flags&wanted != 0, " wanted"}, {s.fenced, " fenced"}, {s.failed, " failed"},
			{s.entry.demand != None, " put off: " + s.entry.demand.String()}, {s.memory == stale, " stale"}, {s.memory == fresh, " fresh"}, {s.open, " open"},
			{s.sharers != 0, fmt.Sprintf(" sharers %b", s.sharers)}, {s.dead != 0, fmt.Sprintf(" knows dead %b", s.dead)}, {s.busy, fmt.Sprintf(" busy %+v", s.tr)},
		} {
			if note.is {
				b.WriteString(note.text)
			}
		}
		b.WriteString("\n")
		for j := range w.n {
			if x := w.wires[i][j]; x.n > 0 {
				fmt.Fprintf(&b, "  to %d:", j)
				for _, p := range x.packets[:x.n] {
					fmt.Fprintf(&b, " %v(%d)", p.kind, p.data)
				}
				b.WriteString("\n")
			}
		}
	}
	return b.String()
}
