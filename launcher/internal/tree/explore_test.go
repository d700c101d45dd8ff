package tree

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// Every schedule of small trees: wherever a link or a host may be lost, it is, and
// every order in which frames arrive is tried.
func TestEverySchedule(t *testing.T) {
	everything := func(hosts int) (script []order) {
		for i := range hosts {
			script = append(script, order{i})
		}
		return append(script, order{-1})
	}
	for _, tt := range []struct {
		name   string
		places []Place
		each   int
		script []order
		breaks int
		joined bool // all hosts are attached, and synced, before it begins
		soak   bool // it takes long
	}{
		{"one host joins", shape(-1), 1, []order{{0}, {-1}}, 1, false, false},
		{"one host, twice", shape(-1), 1, []order{{0}, {-1}}, 2, true, false},
		{"one host, three times", shape(-1), 1, []order{{0}, {-1}}, 3, true, true},
		{"two in a row join", shape(-1, 0), 1, []order{{-1}}, 1, false, true},
		{"two in a row, downwards", shape(-1, 0), 0, []order{{1}, {-1}}, 1, true, false},
		{"two in a row, upwards", shape(-1, 0), 1, nil, 1, true, false},
		{"two in a row", shape(-1, 0), 1, []order{{1}, {-1}}, 1, true, true},
		{"two in a row, both told", shape(-1, 0), 1, everything(2), 1, true, true},
		{"two in a row, twice", shape(-1, 0), 0, []order{{1}}, 2, true, true},
		{"two beside each other", shape(-1, -1), 1, []order{{-1}, {1}}, 1, true, false},
		{"three in a row", shape(-1, 0, 1), 0, []order{{2}, {-1}}, 1, true, true},
		{"three in a row, upwards", shape(-1, 0, 1), 1, nil, 1, true, true},
		{"a fork", shape(-1, 0, 0), 0, []order{{-1}, {2}}, 1, true, true},
		{"a fork, upwards", shape(-1, 0, 0), 1, nil, 1, true, true},
		{"a fork in a row", shape(-1, 0, 1, 1), 0, []order{{3}}, 1, true, true},
		{"five", shape(-1, 0, 1, 1, 0), 0, nil, 1, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.soak && os.Getenv("GOLAUNCH_SOAK") == "" {
				t.Skip("it takes long: make soak")
			}
			w := newWorld(tt.places, 0)
			w.lazy = true
			if tt.joined {
				w = w.joined()
			}
			for _, m := range w.hosts {
				m.toSend = tt.each
			}
			w.script, w.breaks = tt.script, tt.breaks
			e := explorer{seen: map[string]bool{}}
			if err := e.explore(w); err != nil {
				t.Fatalf("%v\n%s", err, lines(e.done))
			}
			t.Logf("%d states, %d ends", len(e.seen), e.ends)
			if e.ends == 0 {
				t.Error("nothing ever ends")
			}
		})
	}
}

// joined does whatever can be done.
func (w *world) joined() *world {
	for {
		list, _ := w.steps()
		if len(list) == 0 {
			return w
		}
		if err := list[0].do(w); err != nil {
			panic(err)
		}
	}
}

type explorer struct {
	seen map[string]bool
	done []string
	ends int
}

// explore walks through everything that may follow.
func (e *explorer) explore(w *world) error {
	list, breaking := w.steps()
	if len(list) == 0 {
		e.ends++
		if err := w.clone().settled(); err != nil {
			return err
		}
	}
	for _, s := range append(list, breaking...) {
		next := w.clone()
		e.done = append(e.done, s.name)
		if err := s.do(next); err != nil {
			return err
		}
		if key := next.key(); !e.seen[key] {
			e.seen[key] = true
			if err := e.explore(next); err != nil {
				return err
			}
		}
		e.done = e.done[:len(e.done)-1]
	}
	return nil
}

func (w *world) clone() *world {
	c := *w
	c.root = w.root.clone()
	c.hosts = nil
	for _, m := range w.hosts {
		copied := *m
		copied.node = m.node.clone()
		c.hosts = append(c.hosts, &copied)
	}
	member := func(m *member) *member {
		if m == nil {
			return nil
		}
		return c.hosts[m.number]
	}
	c.wires = nil
	for _, x := range w.wires {
		copied := *x
		copied.child, copied.parent = member(x.child), member(x.parent)
		if copied.child.wire == x {
			copied.child.wire = &copied
		}
		c.wires = append(c.wires, &copied)
	}
	return &c
}

func (h hub) clone() hub {
	h.facts, h.links, h.attached = maps.Clone(h.facts), maps.Clone(h.links), maps.Clone(h.attached)
	h.below = maps.Clone(h.below)
	for id, children := range h.below {
		h.below[id] = slices.Clone(children)
	}
	h.children = slices.Clone(h.children)
	h.out = nil
	return h
}

func (n *Node) clone() *Node {
	c := *n
	c.hub, c.log, c.got = n.hub.clone(), slices.Clone(n.log), nil
	return &c
}

func (r *Root) clone() *Root {
	c := *r
	c.hub, c.ended, c.apart, c.owing, c.events = r.hub.clone(), maps.Clone(r.ended), maps.Clone(r.apart), slices.Clone(r.owing), nil
	c.backlog.records = slices.Clone(r.backlog.records)
	c.sessions = maps.Clone(r.sessions)
	for id, s := range c.sessions {
		copied := *s
		copied.own = slices.Clone(s.own)
		c.sessions[id] = &copied
	}
	return &c
}

// A key names a state. What can be derived is not in it, nor the links' numbers.
type key []byte

func (k *key) add(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			*k = binary.AppendVarint(*k, int64(v))
		case uint64:
			*k = binary.AppendUvarint(*k, v)
		case bool:
			*k = append(*k, map[bool]byte{false: 0, true: 1}[v])
		case []byte:
			*k = append(append(*k, byte(len(v))), v...)
		default:
			panic(fmt.Sprintf("%T", v))
		}
	}
}

func (w *world) key() string {
	var k key
	k.add(w.sent, w.breaks)
	for _, m := range w.hosts {
		k.add(m.dead, m.said, m.heard, m.due, m.joined, m.reports)
		n := m.node
		k.add(n.n, n.up, n.synced, n.owes, n.accepted, n.repeated, n.first, len(n.log))
		k.hub(w, m, &n.hub)
	}
	r := w.root
	k.hub(w, nil, &r.hub)
	k.add(len(r.owing), r.backlog.end())
	for i := range w.hosts {
		s, over := r.sessions[idOf(i)], r.ended[idOf(i)]
		_, apart := r.apart[idOf(i)]
		k.add(s != nil, over != "", apart)
		if s != nil {
			k.add(s.all, len(s.own), s.acked, s.accepted, s.owes)
		}
	}
	return string(k)
}

func (k *key) hub(w *world, m *member, h *hub) {
	for i := range w.hosts {
		f := h.facts[idOf(i)]
		k.add(uint64(f.Parent), f.N, f.Over, f.Dead)
	}
	k.add(len(h.children))
	for _, l := range h.children {
		k.wire(w.wireOf(m, l), false)
	}
	for _, x := range w.wires { // whose child has not attached, or has gone
		if x.parent == m && !slices.Contains(h.children, x.number) {
			a := h.attached[x.number]
			k.add(uint64(a.host), a.n)
			k.wire(x, true)
		}
	}
}

func (k *key) wire(x *wire, unattached bool) {
	if x == nil {
		k.add(-1)
		return
	}
	k.add(x.child.number, x.child.wire == x, unattached)
	for d := range x.dir {
		dir := &x.dir[d]
		k.add(dir.closed, dir.noticed, dir.crash, len(dir.queue))
		for i := range dir.queue {
			*k = AppendFrame(*k, &dir.queue[i])
		}
	}
}
