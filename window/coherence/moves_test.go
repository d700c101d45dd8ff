package coherence

import "fmt"

// A move is one thing that can happen in a world.
type move struct {
	what     Kind // None: a write; else what host gets from itself, or from the wire
	host     uint8
	from     uint8
	delivery bool
	own      bool // happens by itself: a message arrives, a hold ends
}

func (m move) String() string {
	switch {
	case m.delivery:
		return fmt.Sprintf("%d <- %d %v", m.host, m.from, m.what)
	case m.what == None:
		return fmt.Sprintf("%d writes", m.host)
	}
	return fmt.Sprintf("%d %v", m.host, m.what)
}

// moves appends everything that can happen in w.
func (l *lab) moves(w *world, to []move) []move {
	for i := range w.n {
		to = w.deliveries(i, to)
		if s := &w.sides[i]; !s.fenced {
			if s.timers > 0 {
				to = append(to, move{what: HoldOver, host: i, own: true})
			}
			if s.open && s.memory != NoData {
				to = append(to, move{host: i})
			}
			for _, k := range l.faults {
				if s.mayHappen(k) {
					to = append(to, move{what: k, host: i})
				}
			}
			to = l.mayDie(w, i, to)
		}
	}
	return to
}

func (w *world) deliveries(i uint8, to []move) []move {
	for j := range w.n {
		if x := &w.wires[j][i]; x.n > 0 {
			to = append(to, move{what: x.packets[0].kind, host: i, from: j, delivery: true, own: true})
		}
	}
	return to
}

// mayHappen leaves out faults that the kernel does not report because the access succeeds.
func (s *side) mayHappen(k Kind) bool {
	switch k {
	case ReadFault, PrefetchRead:
		return s.memory == NoData
	case WriteFault, PrefetchWrite:
		return !s.open
	}
	return true
}

// mayDie: a host fences itself, and later every other one hears of it.
func (l *lab) mayDie(w *world, i uint8, to []move) []move {
	fenced := 0
	for j := range w.n {
		if w.sides[j].fenced {
			fenced++
			if !w.sides[i].dead.has(j) {
				to = append(to, move{what: HostDead, host: i, from: j, own: true})
			}
		}
	}
	if fenced < l.deaths {
		to = append(to, move{what: Fence, host: i})
	}
	return to
}

// do carries out a move.
func (l *lab) do(w *world, m move) error {
	switch {
	case m.delivery:
		p := w.wires[m.from][m.host].pop()
		return l.step(w, m.host, Msg{Kind: p.kind, From: m.from, Host: p.host, Data: p.data})
	case m.what == None:
		w.write(m.host)
		return nil
	case m.what == HostDead:
		return l.step(w, m.host, Msg{Kind: HostDead, From: m.host, Host: m.from})
	case m.what == HoldOver:
		w.sides[m.host].timers--
	}
	return l.step(w, m.host, Msg{Kind: m.what, From: m.host})
}
