package schedule

import "fmt"

// What each collective means, said of the symbols that a simulation leaves in
// the buffers. perform runs a plan's schedules and compares.
func perform(p Plan, all []Schedule, o options) error {
	m := newSimulation(all, o)
	m.inputs(p)
	if err := m.run(); err != nil {
		return err
	}
	for rank := range all {
		if err := m.verify(p, rank); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

func (m *simulation) inputs(p Plan) {
	for rank := range m.ranks {
		switch p.Algorithm {
		case BarrierDissemination:
			m.fill(rank, Temp)
		case BcastBinomial, BcastChain, BcastTwoLevel:
			if rank == p.Root {
				m.fill(rank, Out)
			}
		default:
			// In place, the input is a part of Out; fill it by its own indices.
			m.fill(rank, In)
		}
	}
}

func (m *simulation) verify(p Plan, rank int) error {
	out := m.ranks[rank].memory[Out]
	switch p.Algorithm {
	case BcastBinomial, BcastChain, BcastTwoLevel:
		return m.sameAs(out, p.Root, p.Count)
	case AllgatherRing:
		return m.everyBlock(p, out)
	case AllreduceRecursiveDoubling, AllreduceReduceScatterAllgather, AllreduceTwoLevel:
		return m.everyFold(p, out)
	}
	if rank != p.Root {
		return nil
	}
	switch p.Algorithm {
	case GatherDirect:
		return m.everyBlock(p, out)
	case ReduceBinomial, ReduceScatterGather, ReduceTwoLevel:
		return m.everyFold(p, out)
	}
	return nil
}

func (m *simulation) sameAs(out []int, rank, n int) error {
	if len(out) != n {
		return fmt.Errorf("%d elements, not %d", len(out), n)
	}
	for i, v := range out {
		if v != m.leaf(rank, i) {
			return fmt.Errorf("element %d is %s, not %d's element %d", i, m.text(v), rank, i)
		}
	}
	return nil
}

func (m *simulation) everyBlock(p Plan, out []int) error {
	if len(out) != p.Count*p.Size {
		return fmt.Errorf("%d elements, not %d", len(out), p.Count*p.Size)
	}
	for rank := range p.Size {
		if err := m.sameAs(out[rank*p.Count:][:p.Count], rank, p.Count); err != nil {
			return err
		}
	}
	return nil
}

// everyFold: every element is combined from everybody's, in the documented order.
// As the order is a function of rank and element alone, all ranks agree.
func (m *simulation) everyFold(p Plan, out []int) error {
	if len(out) != p.Count {
		return fmt.Errorf("%d elements, not %d", len(out), p.Count)
	}
	for i, v := range out {
		if want := m.documented(p, i); v != want {
			return fmt.Errorf("element %d is %s, not %s", i, m.text(v), m.text(want))
		}
	}
	return nil
}

func (m *simulation) documented(p Plan, elem int) int {
	switch p.Algorithm {
	case AllreduceReduceScatterAllgather, ReduceScatterGather:
		return m.byRank(p, elem)
	case AllreduceTwoLevel, ReduceTwoLevel:
		return m.byHosts(p, elem)
	case ReduceBinomial:
		return m.byTree(p, elem)
	default:
		return m.byPairs(p, elem)
	}
}

// byRank is ((x0 op x1) op x2) ...
func (m *simulation) byRank(p Plan, elem int) int {
	v := m.leaf(0, elem)
	for r := 1; r < p.Size; r++ {
		v = m.op(v, m.leaf(r, elem))
	}
	return v
}

// byHosts is by rank on each host, and then by the leaders' ranks.
func (m *simulation) byHosts(p Plan, elem int) int {
	var hosts []int
	for _, leader := range p.levels(p.Root).leaders {
		hosts = append(hosts, m.fold(p.levels(leader).local, func(r int) int { return m.leaf(r, elem) }))
	}
	return m.fold(hosts, func(v int) int { return v })
}

// fold is ((x0 op x1) op x2) ... of the values of a list.
func (m *simulation) fold(list []int, value func(int) int) int {
	v := value(list[0])
	for _, x := range list[1:] {
		v = m.op(v, value(x))
	}
	return v
}

// byTree is the binomial tree: a rank's value, then its children's, nearest first.
func (m *simulation) byTree(p Plan, elem int) int {
	var subtree func(relative, width int) int
	subtree = func(relative, width int) int {
		v := m.leaf(p.absolute(relative), elem)
		for child := 1; child < width && relative+child < p.Size; child *= 2 {
			v = m.op(v, subtree(relative+child, child))
		}
		return v
	}
	return subtree(0, 1<<20)
}

// byPairs combines the excess ranks in pairs, then neighbours, then neighbours'
// neighbours.
func (m *simulation) byPairs(p Plan, elem int) int {
	power := 1
	for power*2 <= p.Size {
		power *= 2
	}
	var values []int
	for r := 0; r < p.Size; r++ {
		v := m.leaf(r, elem)
		if r < 2*(p.Size-power) {
			r++
			v = m.op(v, m.leaf(r, elem))
		}
		values = append(values, v)
	}
	for len(values) > 1 {
		var next []int
		for i := 0; i < len(values); i += 2 {
			next = append(next, m.op(values[i], values[i+1]))
		}
		values = next
	}
	return values[0]
}

// text writes an expression out.
func (m *simulation) text(v int) string {
	e := m.list[v]
	switch {
	case v == 0:
		return "nothing"
	case e.left != 0:
		return "(" + m.text(e.left) + " " + m.text(e.right) + ")"
	default:
		return fmt.Sprintf("%d[%d]", e.rank, e.elem)
	}
}
