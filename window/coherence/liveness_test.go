package coherence

import (
	"fmt"
	"os"
	"testing"
)

// Every request is granted, if every message arrives some day and every hold ends:
// there is no infinite run in which a host waits for ever, however often others
// access, evict and prefetch. Such a run would end in a strongly connected set of
// states in all of which the host waits, and in which nothing that happens by itself
// is put off for ever: each message and hold either ends within the set, or is not
// there in one of its states.
func TestEveryRequestIsGranted(t *testing.T) {
	type population struct {
		hosts      int
		firstTouch bool
		deaths     int
	}
	cases := []population{{2, false, 0}, {2, true, 0}, {2, false, 1}, {2, true, 1}, {3, false, 0}}
	if os.Getenv("GOLAUNCH_SOAK") != "" {
		cases = append(cases, population{3, true, 0}, population{3, false, 1})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d hosts, first touch %v, %d deaths", c.hosts, c.firstTouch, c.deaths), func(t *testing.T) {
			l := newLab(c.hosts, c.firstTouch, plainFault...)
			l.deaths = c.deaths
			g, err := l.graph()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d moves", len(g.nodes), len(g.edges))
			if err := g.starved(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// graph is every reachable state and move, hosts told apart.
type graph struct {
	nodes []node
	edges []edge // those of a node lie together
}

type node struct {
	world
	first, last int    // its edges
	enabled     uint64 // what can happen by itself
}

type edge struct {
	to  int
	own uint64 // what has happened by itself
}

// bit numbers the moves that happen by themselves.
func (m move) bit() uint64 {
	switch {
	case !m.own:
		return 0
	case m.delivery:
		return 1 << (m.host*maxHosts + m.from)
	case m.what == HoldOver:
		return 1 << (16 + m.host)
	}
	return 1 << (20 + m.host*maxHosts + m.from) // news of a death
}

func (l *lab) graph() (*graph, error) {
	identity := &coder{n: l.n, perms: [][maxHosts]uint8{{0, 1, 2, 3}}}
	start := l.start()
	g := &graph{nodes: []node{{world: start}}}
	index := map[string]int{string(identity.code(&start)): 0}
	var moves []move
	for i := 0; i < len(g.nodes); i++ {
		g.nodes[i].first = len(g.edges)
		moves = l.moves(&g.nodes[i].world, moves[:0])
		for _, m := range moves {
			next := g.nodes[i].world
			if err := l.do(&next, m); err != nil {
				return nil, err
			}
			code := identity.code(&next)
			to, known := index[string(code)]
			if !known {
				to = len(g.nodes)
				index[string(code)] = to
				g.nodes = append(g.nodes, node{world: next})
			}
			g.edges = append(g.edges, edge{to, m.bit()})
			g.nodes[i].enabled |= m.bit()
		}
		g.nodes[i].last = len(g.edges)
	}
	return g, nil
}

// starved looks for a fair run in which a host waits for ever.
func (g *graph) starved() error {
	for host := range g.nodes[0].n {
		s := &search{graph: g, host: host, order: make([]int, len(g.nodes)), low: make([]int, len(g.nodes)), onStack: make([]bool, len(g.nodes))}
		for i := range g.nodes {
			if s.waits(i) && s.order[i] == 0 {
				if set := s.components(i); set != nil {
					return broken("every request is granted", fmt.Errorf("host %d waits for ever in %d states like\n%v", host, len(set), g.nodes[set[0]].world))
				}
			}
		}
	}
	return nil
}

// search finds strongly connected components (Tarjan 1972) of the states in which a
// host waits, without recursion.
type search struct {
	*graph
	host       uint8
	order, low []int
	onStack    []bool
	stack      []int
	count      int
}

func (s *search) waits(i int) bool {
	side := &s.nodes[i].sides[s.host]
	return side.entry.state.pending() && !side.fenced
}

type visit struct{ node, edge int }

// components returns a fair component that can be reached from i, nil if there is none.
func (s *search) components(i int) []int {
	path := []visit{s.enter(i)}
	for len(path) > 0 {
		v := &path[len(path)-1]
		if v.edge < s.nodes[v.node].last {
			to := s.edges[v.edge].to
			v.edge++
			switch {
			case !s.waits(to):
			case s.order[to] == 0:
				path = append(path, s.enter(to))
			case s.onStack[to]:
				s.low[v.node] = min(s.low[v.node], s.order[to])
			}
			continue
		}
		done := v.node
		if path = path[:len(path)-1]; len(path) > 0 {
			above := path[len(path)-1].node
			s.low[above] = min(s.low[above], s.low[done])
		}
		if s.low[done] == s.order[done] {
			if set := s.leave(done); s.fair(set) {
				return set
			}
		}
	}
	return nil
}

func (s *search) enter(i int) visit {
	s.count++
	s.order[i], s.low[i], s.onStack[i] = s.count, s.count, true
	s.stack = append(s.stack, i)
	return visit{i, s.nodes[i].first}
}

func (s *search) leave(root int) (set []int) {
	for {
		last := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.onStack[last] = false
		if set = append(set, last); last == root {
			return set
		}
	}
}

// fair tells whether a run can stay in the set for ever without putting anything off.
func (s *search) fair(set []int) bool {
	in := make(map[int]bool, len(set))
	for _, i := range set {
		in[i] = true
	}
	always, taken, moves := ^uint64(0), uint64(0), 0
	for _, i := range set {
		always &= s.nodes[i].enabled
		for _, e := range s.edges[s.nodes[i].first:s.nodes[i].last] {
			if in[e.to] {
				taken |= e.own
				moves++
			}
		}
	}
	return moves > 0 && always&^taken == 0
}
