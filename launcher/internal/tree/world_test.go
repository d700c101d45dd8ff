package tree

import (
	"fmt"
	"slices"
)

// A world is a root, its hosts, and the links between them. Whatever may happen next
// in the real one is one of its steps.
type world struct {
	root   *Root
	hosts  []*member
	places []Place
	script []order // what the root has yet to send
	sent   int     // of the script
	wires  []*wire // in the order of their making; those that have ended are taken out
	made   int
	breaks int  // how many links and hosts may yet be lost
	lazy   bool // nobody acknowledges before there is nothing else to do
}

// An order has the root send its next record to one host, or to all (-1).
type order struct{ to int }

// A member is a host.
type member struct {
	number  int
	node    *Node
	dead    bool
	wire    *wire // to the parent
	toSend  int
	said    int    // records sent
	heard   int    // of those the root has received
	due     []byte // the numbers of the root's records that must come yet
	joined  bool
	reports int // of its loss
}

// A wire is a link. A direction that is closed ends behind what is under way.
type wire struct {
	number Link
	child  *member
	parent *member // nil: the root
	dir    [2]direction
}

const (
	up = iota
	down
)

type direction struct {
	queue   []Frame
	closed  bool // by the sender, or the network
	noticed bool // the receiver knows
	crash   bool // the sender's process has died
}

func idOf(host int) ID { return ID(host + 1) }

func newWorld(places []Place, each int, script ...order) *world {
	w := &world{root: NewRoot(10, 5), places: places, script: script}
	for i := range places {
		w.hosts = append(w.hosts, &member{number: i, node: NewNode(idOf(i)), toSend: each})
	}
	return w
}

// A step changes the world.
type step struct {
	name string
	do   func(w *world) error
}

// steps lists what may happen next. Those that break something are last.
func (w *world) steps() (list, breaking []step) {
	for i, x := range w.wires {
		for d := range x.dir {
			if s, ok := x.step(i, d); ok {
				list = append(list, s)
			}
		}
		if w.breaks > 0 && !x.dir[up].closed && !x.dir[down].closed {
			breaking = append(breaking, step{fmt.Sprintf("the link of %v to %v is cut", x.child, x.parent), func(w *world) error { return w.cut(w.wires[i]) }},
				step{fmt.Sprintf("%v gives its parent %v up", x.child, x.parent), func(w *world) error { return w.giveUp(w.wires[i]) }})
		}
	}
	for i, m := range w.hosts {
		list = append(list, w.stepsOf(i, m)...)
		if w.breaks > 0 && !m.dead {
			breaking = append(breaking, step{fmt.Sprintf("%v dies", m), func(w *world) error { return w.kill(w.hosts[i]) }})
		}
	}
	if w.sent < len(w.script) {
		list = append(list, step{"the root sends", (*world).rootSends})
	}
	if !w.lazy || len(list) == 0 {
		list = append(list, w.acknowledgements()...)
	}
	return list, breaking
}

func (w *world) acknowledgements() (list []step) {
	if w.root.Owes() {
		list = append(list, step{"the root acknowledges", func(w *world) error { w.root.Acknowledge(); return w.flush() }})
	}
	for i, m := range w.hosts {
		if !m.dead && m.node.Owes() {
			list = append(list, step{fmt.Sprintf("%v acknowledges", m), func(w *world) error { w.hosts[i].node.Acknowledge(); return w.flush() }})
		}
	}
	return list
}

func (m *member) String() string {
	if m == nil {
		return "the root"
	}
	return fmt.Sprint("host ", m.number)
}

func (w *world) stepsOf(i int, m *member) (list []step) {
	if m.dead {
		return nil
	}
	if !m.node.up {
		for _, p := range append(Ancestors(w.places, i), -1) {
			if p < 0 || !w.hosts[p].dead {
				list = append(list, step{fmt.Sprintf("%v attaches to %d", m, p), func(w *world) error { return w.attach(w.hosts[i], p) }})
				if p >= 0 && w.hosts[p].node.up {
					break // nobody passes over a host that is well
				}
			}
		}
	}
	if m.said < m.toSend {
		list = append(list, step{fmt.Sprintf("%v sends", m), func(w *world) error { return w.hosts[i].send(w) }})
	}
	return list
}

func (x *wire) step(i, d int) (step, bool) {
	dir := &x.dir[d]
	from, to := x.child, x.parent
	if d == down {
		from, to = to, from
	}
	switch {
	case to != nil && to.dead || dir.noticed:
		return step{}, false
	case len(dir.queue) > 0:
		return step{fmt.Sprintf("%v hears %v: kind %d", to, from, dir.queue[0].Kind), func(w *world) error { return w.deliver(w.wires[i], d) }}, true
	case dir.closed:
		return step{fmt.Sprintf("%v notices the end of its link to %v", to, from), func(w *world) error { return w.notice(w.wires[i], d) }}, true
	}
	return step{}, false
}

func (m *member) send(w *world) error {
	m.node.Send([]byte{byte(m.said)})
	m.said++
	return w.flush()
}

func (w *world) rootSends() error {
	o := w.script[w.sent]
	w.sent++
	data := []byte{byte(w.sent)}
	for i, m := range w.hosts {
		if w.root.sessions[idOf(i)] != nil && (o.to < 0 || o.to == i) {
			m.due = append(slices.Clip(m.due), data...)
		}
	}
	if o.to < 0 {
		w.root.SendAll(data)
	} else {
		w.root.Send(idOf(o.to), data)
	}
	return w.flush()
}

func (w *world) attach(m *member, to int) error {
	w.made++
	m.wire = &wire{number: Link(w.made), child: m}
	if to >= 0 {
		m.wire.parent = w.hosts[to]
	}
	w.wires = append(w.wires, m.wire)
	m.node.Attach()
	return w.flush()
}

func (w *world) deliver(x *wire, d int) (err error) {
	f := x.dir[d].queue[0]
	x.dir[d].queue = x.dir[d].queue[1:]
	switch {
	case d == down:
		if x.child.wire != x { // the child has left: nobody reads
			return nil
		}
		err = x.child.node.FromParent(f)
	case x.parent == nil:
		err = w.root.FromChild(x.number, f, "")
	default:
		err = x.parent.node.FromChild(x.number, f, "")
	}
	if err != nil {
		return err
	}
	return w.flush()
}

func (w *world) notice(x *wire, d int) error {
	x.dir[d].noticed = true
	x.dir[1-d].closed = true
	switch {
	case d == down:
		if x.child.wire == x {
			x.child.wire = nil
			x.child.node.Detached()
		}
	case x.parent == nil:
		w.root.Ended(x.number, x.dir[up].crash, "it broke")
	default:
		x.parent.node.Ended(x.number, x.dir[up].crash, "it broke")
	}
	return w.flush()
}

// cut loses what is under way, in both directions.
func (w *world) cut(x *wire) error {
	w.breaks--
	for d := range x.dir {
		x.dir[d].queue, x.dir[d].closed = nil, true
	}
	return nil
}

// giveUp has a child end its link: what it has sent may arrive.
func (w *world) giveUp(x *wire) error {
	w.breaks--
	x.child.node.Move()
	if err := w.flush(); err != nil {
		return err
	}
	x.dir[up].closed = true
	x.dir[down] = direction{closed: true, noticed: true}
	x.child.wire = nil
	x.child.node.Detached()
	return w.flush()
}

func (w *world) kill(m *member) error {
	w.breaks--
	m.dead = true
	for _, x := range w.wires {
		for d, sender := range []*member{up: x.child, down: x.parent} {
			if sender == m {
				x.dir[d].closed, x.dir[d].crash = true, true
			} else if x.child == m || x.parent == m {
				x.dir[d] = direction{closed: true, noticed: true}
			}
		}
	}
	return nil
}

// flush puts what the machines want to send on the wires, and checks what they have
// received.
func (w *world) flush() error {
	for _, o := range w.root.Out() {
		w.put(w.wireOf(nil, o.Link), down, o.Frame)
	}
	for _, m := range w.hosts {
		for _, o := range m.node.Out() {
			if o.Link == Parent {
				w.put(m.wire, up, o.Frame)
			} else {
				w.put(w.wireOf(m, o.Link), down, o.Frame)
			}
		}
		for _, data := range m.node.Got() {
			if len(m.due) == 0 || data[0] != m.due[0] {
				return fmt.Errorf("%v received record %d, and %v are due", m, data[0], m.due)
			}
			m.due = m.due[1:]
		}
	}
	for _, e := range w.root.Events() {
		if err := w.hosts[e.Host-1].event(e); err != nil {
			return err
		}
	}
	w.wires = slices.DeleteFunc(w.wires, func(x *wire) bool { return x.dir[up].over(x.parent) && x.dir[down].over(x.child) })
	return nil
}

func (d *direction) over(receiver *member) bool {
	return d.noticed || d.closed && receiver != nil && receiver.dead
}

func (m *member) event(e Event) error {
	switch e.Kind {
	case Joined:
		m.joined = true
	case Came:
		if int(e.Data[0]) != m.heard {
			return fmt.Errorf("the root received record %d of %v, and %d is due", e.Data[0], m, m.heard)
		}
		m.heard++
	case Lost:
		m.reports++
		if !m.dead && e.Dead || m.reports > 1 {
			return fmt.Errorf("the root has lost %v, which is alive, or %d times", m, m.reports)
		}
	}
	return nil
}

func (w *world) wireOf(parent *member, number Link) *wire {
	for _, x := range w.wires {
		if x.parent == parent && x.number == number {
			return x
		}
	}
	return nil
}

func (w *world) put(x *wire, d int, f Frame) {
	if x != nil && !x.dir[d].closed {
		f.Facts = slices.Clone(f.Facts)
		x.dir[d].queue = append(slices.Clip(x.dir[d].queue), f)
	}
}

// settled checks a world in which nothing can happen any more but that time passes.
func (w *world) settled() error {
	w.root.Tick(1000)
	if err := w.flush(); err != nil {
		return err
	}
	for _, m := range w.hosts {
		switch {
		case m.dead && m.joined && m.reports != 1:
			return fmt.Errorf("%v is dead, and was reported %d times", m, m.reports)
		case m.dead:
			continue
		case m.reports > 0:
			return fmt.Errorf("%v is alive, and was lost", m)
		case !m.node.Synced() || len(m.due) > 0 || m.heard < m.toSend:
			return fmt.Errorf("%v: synced %v, due %v, %d of %d records arrived", m, m.node.Synced(), m.due, m.heard, m.toSend)
		case m.node.Unacknowledged() > 0 || w.root.Unacknowledged(idOf(m.number)) > 0:
			return fmt.Errorf("%v: %d and %d records are not acknowledged", m, m.node.Unacknowledged(), w.root.Unacknowledged(idOf(m.number)))
		}
	}
	if w.root.Apart() {
		return fmt.Errorf("apart: %v", w.root.apart)
	}
	return nil
}

// shape is a tree: the parent of each host, -1 the root.
func shape(parents ...int) (places []Place) {
	for _, p := range parents {
		places = append(places, Place{Parent: p})
	}
	return places
}
