package tree

import (
	"fmt"
	"slices"
)

// A Link is a number that whoever carries the frames has given to a connection.
type Link int

// Parent is the link of a Node to its parent. Those to children have other numbers.
const Parent Link = 0

// An Out is a frame to be sent on a link, behind those before it. Its Data may be
// changed once the machine is called again.
type Out struct {
	Link  Link
	Frame Frame
}

// A hub is what the root and every other host have in common: those attached.
//
// Invariant: children holds the links in links, and nothing else.
type hub struct {
	routes
	timeout  uint64
	links    map[ID]Link
	children []Link
	attached map[Link]attachment // links that have brought Greet, and have not ended
	out      []Out
}

type attachment struct {
	host   ID
	n      uint64 // 0: Attach has not come
	moving bool
}

func newHub(self ID) hub {
	return hub{routes: newRoutes(self), links: map[ID]Link{}, attached: map[Link]attachment{}}
}

func (h *hub) send(l Link, f Frame) { h.out = append(h.out, Out{l, f}) }

// forward sends a frame on towards its host, if there is a way.
func (h *hub) forward(f Frame) {
	if child, ok := h.next(f.Host); ok {
		if l, ok := h.links[child]; ok {
			h.send(l, f)
		}
	}
}

// spread sends a frame to everybody attached.
func (h *hub) spread(f Frame) {
	for _, l := range h.children {
		h.send(l, f)
	}
}

// greet notes who is at the other end of a link.
func (h *hub) greet(l Link, f Frame) error {
	if f.Protocol != Protocol {
		h.send(l, Frame{Kind: Refuse, Text: fmt.Sprintf("it speaks protocol %d of the launch tree, and its parent %d", f.Protocol, Protocol)})
		return fmt.Errorf("it speaks protocol %d of the launch tree, and not %d", f.Protocol, Protocol)
	}
	if _, twice := h.attached[l]; twice || f.Host == RootID || f.Host == h.self {
		return fmt.Errorf("host %x greets as host %x", h.self, f.Host)
	}
	h.attached[l] = attachment{host: f.Host}
	return nil
}

// attach takes in who has greeted over a link, and returns what is new with that.
func (h *hub) attach(l Link, f Frame, where string) ([]Fact, error) {
	a, greeted := h.attached[l]
	if !greeted || a.n != 0 || f.N == 0 {
		return nil, fmt.Errorf("host %x attaches for the %dth time and the %dth on this link", a.host, f.N, a.n)
	}
	a.n = f.N
	h.attached[l] = a
	fact := Fact{Host: a.host, Parent: h.self, N: a.n, Text: shortened(where)}
	if !h.learn(fact) {
		return nil, nil // a later attachment is known: the link ends soon
	}
	h.unlink(h.links[a.host])
	h.links[a.host] = l
	h.children = append(h.children, l)
	h.send(l, Frame{Kind: Accept, N: h.timeout})
	return []Fact{fact}, nil
}

// unlink has nothing more sent on a link.
func (h *hub) unlink(l Link) {
	h.children = slices.DeleteFunc(h.children, func(c Link) bool { return c == l })
	if a, ok := h.attached[l]; ok && h.links[a.host] == l {
		delete(h.links, a.host)
	}
}

// finish follows the end of a link to a child. closed says that the other end closed
// it.
func (h *hub) finish(l Link, closed bool, why string) []Fact {
	a, ok := h.attached[l]
	if !ok {
		return nil
	}
	h.unlink(l)
	delete(h.attached, l)
	if a.n == 0 {
		return nil
	}
	fact := Fact{Host: a.host, Parent: h.self, N: a.n, Over: true, Dead: closed && !a.moving, Text: shortened(why)}
	if !h.learn(fact) {
		return nil
	}
	return []Fact{fact}
}

// moves notes that a child ends a link on purpose.
func (h *hub) moves(l Link) {
	if a, ok := h.attached[l]; ok {
		a.moving = true
		h.attached[l] = a
	}
}

// hear takes facts, and returns those that are news.
func (h *hub) hear(facts []Fact) (news []Fact) {
	for _, f := range facts {
		if f.Host != RootID && f.Parent != h.self && h.learn(f) {
			news = append(news, f)
		}
	}
	return news
}
