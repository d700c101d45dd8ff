package coherence

import (
	"cmp"
	"slices"
)

// phase is where orders of a kind stand in a plan. What one Step orders for a page
// rises through the phases.
var phase = [kinds]uint8{Kill: 1, Protect: 2, Save: 3, Drop: 4, Discard: 4, Fill: 5, FillWritable: 5, Unprotect: 6, Wake: 7, Hold: 8, Fail: 8, Free: 9}

// A Planner puts together what several Steps have ordered, so that a system call does
// for a range of pages what it would else do for one. It keeps its memory from plan to
// plan.
type Planner struct {
	reached          map[Page]uint8 // the phase of the latest order of each page
	orders, messages []Msg
}

// Next plans the beginning of out, which Steps have appended to: first the orders are to
// be carried out, then the messages sent, then the rest is planned. The orders of each
// page stay in order, as do the messages, and no message overtakes an order. Orders that
// a page has twice are there once. The results are valid until the next call.
//
// A plan ends before an order that belongs in front of another one of its page: before
// a second Save whose content may differ, above all. Between two such orders other
// hosts have usually been heard, so a plan covers all of out with few exceptions.
func (p *Planner) Next(out []Msg) (orders, messages, rest []Msg) {
	if p.reached == nil {
		p.reached = map[Page]uint8{}
	}
	clear(p.reached)
	p.orders, p.messages = p.orders[:0], p.messages[:0]
	for i, m := range out {
		if !p.add(m) {
			rest = out[i:]
			break
		}
	}
	slices.SortStableFunc(p.orders, byPhase)
	p.orders = slices.CompactFunc(p.orders, func(a, b Msg) bool { return a == b && a.Kind != Free })
	return p.orders, p.messages, rest
}

// add reports whether m fits into the plan.
func (p *Planner) add(m Msg) bool {
	if !m.Kind.isOrder() {
		p.messages = append(p.messages, m)
		return true
	}
	if phase[m.Kind] < p.reached[m.Page] {
		return false
	}
	p.reached[m.Page] = phase[m.Kind]
	p.orders = append(p.orders, m)
	return true
}

func byPhase(a, b Msg) int {
	return cmp.Or(cmp.Compare(phase[a.Kind], phase[b.Kind]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Page, b.Page))
}

// Run is how many of the orders of a plan, from the first, are of one kind and for
// pages that follow each other.
func Run(orders []Msg) (n int) {
	for n < len(orders) && orders[n].Kind == orders[0].Kind && orders[n].Page == orders[0].Page+Page(n) {
		n++
	}
	return n
}
