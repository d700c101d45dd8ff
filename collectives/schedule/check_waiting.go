package schedule

import "fmt"

// checkWaiting matches sends with receives and looks for circles.
//
// A send and its receive end together when nothing is buffered, so they are one
// node of the graph. An edge leads from a node to what waits for it: along the
// dependencies, and from each message of a stream to the next. A circle is a
// deadlock; where there is none, some node can always proceed.
func checkWaiting(all []Schedule) error {
	g := newWaitGraph(all)
	for from, s := range all {
		for to := range all {
			if err := g.match(from, to, s.sends(to), all[to].receipts(from)); err != nil {
				return err
			}
		}
	}
	g.dependencies()
	return g.circle()
}

// sends lists the steps that send to the peer, in order.
func (s Schedule) sends(peer int) []int {
	return s.steps(func(t Step) bool { return t.Kind == Send && t.Peer == peer })
}

// receipts lists the steps that receive from the peer, in order.
func (s Schedule) receipts(peer int) []int {
	return s.steps(func(t Step) bool { return t.receives() && t.Peer == peer })
}

func (s Schedule) steps(which func(Step) bool) []int {
	var list []int
	for i, t := range s.Steps {
		if which(t) {
			list = append(list, i)
		}
	}
	return list
}

type waitGraph struct {
	all     []Schedule
	first   []int   // the number of each rank's first step among all steps
	node    []int   // by number of the step; a receive's node is its send's
	follow  [][]int // by node: the nodes that wait for it
	waiting []int   // by node: for how many it waits
}

func newWaitGraph(all []Schedule) *waitGraph {
	g := &waitGraph{all: all}
	for _, s := range all {
		g.first = append(g.first, len(g.node))
		for range s.Steps {
			g.node = append(g.node, len(g.node))
		}
	}
	g.follow = make([][]int, len(g.node))
	g.waiting = make([]int, len(g.node))
	return g
}

// match joins the messages from one rank to another.
func (g *waitGraph) match(from, to int, sends, receipts []int) error {
	if len(sends) != len(receipts) {
		return fmt.Errorf("rank %d sends %d messages to rank %d, which receives %d: %w", from, len(sends), to, len(receipts), ErrUnmatched)
	}
	for k, i := range sends {
		sent, got := g.all[from].Steps[i].Len, g.all[to].Steps[receipts[k]].Len
		if sent != got {
			return g.all[from].fault(i, ErrUnmatched, "step %d of rank %d receives %d elements", receipts[k], to, got)
		}
		g.node[g.first[to]+receipts[k]] = g.first[from] + i
		if k > 0 {
			g.edge(g.first[from]+sends[k-1], g.first[from]+i)
		}
	}
	return nil
}

func (g *waitGraph) edge(from, to int) {
	g.follow[from] = append(g.follow[from], to)
	g.waiting[to]++
}

func (g *waitGraph) dependencies() {
	for rank, s := range g.all {
		for i, step := range s.Steps {
			for _, d := range step.After {
				g.edge(g.node[g.first[rank]+d], g.node[g.first[rank]+i])
			}
		}
	}
}

// circle takes away what waits for nothing until only circles are left.
func (g *waitGraph) circle() error {
	var free []int
	for n, w := range g.waiting {
		if w == 0 {
			free = append(free, n)
		}
	}
	for k := 0; k < len(free); k++ {
		for _, n := range g.follow[free[k]] {
			if g.waiting[n]--; g.waiting[n] == 0 {
				free = append(free, n)
			}
		}
	}
	if len(free) == len(g.node) {
		return nil
	}
	return g.describe()
}

// describe names the first step that can never be carried out.
func (g *waitGraph) describe() error {
	for rank, s := range g.all {
		for i := range s.Steps {
			if g.waiting[g.node[g.first[rank]+i]] > 0 {
				return s.fault(i, ErrCycle, "it can never be done without buffering")
			}
		}
	}
	return ErrCycle
}
