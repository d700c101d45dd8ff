package schedule

import (
	"fmt"
	"math/rand/v2"
)

// A simulation carries out schedules with symbols for elements. A value is the
// number of an expression; equal numbers mean the same operations on the same
// operands in the same order, and so bitwise identical results. Value 0 is "never
// written" and must not be read.

type expression struct {
	left, right int // 0 in a leaf
	rank, elem  int // of a leaf: whose input, which element
}

type expressions struct {
	list   []expression
	number map[expression]int
}

func newExpressions() *expressions {
	return &expressions{list: make([]expression, 1), number: map[expression]int{}}
}

func (x *expressions) intern(e expression) int {
	if n, ok := x.number[e]; ok {
		return n
	}
	x.list = append(x.list, e)
	x.number[e] = len(x.list) - 1
	return len(x.list) - 1
}

func (x *expressions) leaf(rank, elem int) int { return x.intern(expression{rank: rank, elem: elem}) }

func (x *expressions) op(a, b int) int { return x.intern(expression{left: a, right: b}) }

// options of a simulation.
type options struct {
	alias    bool // In and Out are the same memory where they may be
	capacity int  // elements that a pipe holds; 0: both sides meet
	seed     uint64
	absent   int // a rank that never arrives, or -1
}

func (o options) String() string {
	return fmt.Sprintf("alias %v, capacity %d, seed %d", o.alias, o.capacity, o.seed)
}

// unbounded is a pipe that takes everything.
const unbounded = 1 << 30

type simRank struct {
	Schedule
	memory  [3][]int
	moved   []int // elements done, by step
	sends   [][]int
	recvs   [][]int // by peer: the steps still to be completed, in order
	pending []int   // steps still to be completed
}

func (r *simRank) done(i int) bool { return r.moved[i] == r.Steps[i].Len }

func (r *simRank) ready(i int) bool {
	for _, d := range r.Steps[i].After {
		if !r.done(d) {
			return false
		}
	}
	return true
}

type simulation struct {
	*expressions
	options
	random *rand.Rand
	ranks  []*simRank
	pipes  [][][]int // [from][to]
	err    error
}

func newSimulation(all []Schedule, o options) *simulation {
	m := &simulation{expressions: newExpressions(), options: o, random: rand.New(rand.NewPCG(o.seed, 1))}
	for _, s := range all {
		r := &simRank{Schedule: s, moved: make([]int, len(s.Steps))}
		r.memory = [3][]int{make([]int, s.In), make([]int, s.Out), make([]int, s.Temp)}
		if o.alias && s.InAt != NoAlias {
			r.memory[In] = r.memory[Out][s.InAt:][:s.In]
		}
		for i := range s.Steps {
			r.pending = append(r.pending, i)
		}
		for peer := range all {
			r.sends, r.recvs = append(r.sends, s.sends(peer)), append(r.recvs, s.receipts(peer))
		}
		m.ranks = append(m.ranks, r)
		m.pipes = append(m.pipes, make([][]int, len(all)))
	}
	return m
}

// fill gives each element of a rank's buffer its own symbol.
func (m *simulation) fill(rank int, b Buffer) {
	for i := range m.ranks[rank].memory[b] {
		m.ranks[rank].memory[b][i] = m.leaf(rank, i)
	}
}

// run makes random progress until nothing can move, and tells whether all is done.
func (m *simulation) run() error {
	for m.err == nil && m.progress() {
	}
	if m.err != nil {
		return m.err
	}
	for _, r := range m.ranks {
		if len(r.pending) > 0 && m.absent < 0 {
			i := r.pending[0]
			return r.fault(i, ErrCycle, "stuck")
		}
	}
	return nil
}

// progress tries steps in random order until one moves.
func (m *simulation) progress() bool {
	for _, rank := range m.random.Perm(len(m.ranks)) {
		r := m.ranks[rank]
		if rank == m.absent || len(r.pending) == 0 {
			continue
		}
		// Mostly the first steps can move; a full scan only when they cannot.
		start := m.random.IntN(min(len(r.pending), 8))
		for k := range r.pending {
			i := r.pending[(start+k)%len(r.pending)]
			if r.ready(i) && m.step(r, i) {
				r.retire(i)
				return true
			}
		}
	}
	return false
}

// retire forgets a step that is complete.
func (r *simRank) retire(i int) {
	if !r.done(i) {
		return
	}
	r.pending = without(r.pending, i)
	switch s := r.Steps[i]; {
	case s.Kind == Send:
		r.sends[s.Peer] = without(r.sends[s.Peer], i)
	case s.receives():
		r.recvs[s.Peer] = without(r.recvs[s.Peer], i)
	}
}

func without(list []int, v int) []int {
	kept := list[:0]
	for _, x := range list {
		if x != v {
			kept = append(kept, x)
		}
	}
	return kept
}

// step moves a random number of elements of a step that is ready.
func (m *simulation) step(r *simRank, i int) bool {
	s := r.Steps[i]
	n := 1 + m.random.IntN(s.Len-r.moved[i])
	moved := 0
	for ; moved < n && m.one(r, i, s); moved++ {
		r.moved[i]++
	}
	return moved > 0
}

// one moves one element.
func (m *simulation) one(r *simRank, i int, s Step) bool {
	k := r.moved[i]
	switch s.Kind {
	case Send:
		return r.sends[s.Peer][0] == i && m.put(r, s, k)
	case Recv, RecvReduce:
		return r.recvs[s.Peer][0] == i && m.take(r, s, k)
	case Copy:
		m.store(r, s.Into, k, m.load(r, s.From, k))
	case Reduce:
		m.store(r, s.Into, k, m.op(m.load(r, s.From, k), m.load(r, s.With, k)))
	}
	return true
}

// put appends to the pipe, or hands over when there is none and the peer is ready.
func (m *simulation) put(r *simRank, s Step, k int) bool {
	pipe := &m.pipes[r.Rank][s.Peer]
	peer := m.ranks[s.Peer]
	if m.capacity > 0 && len(*pipe) < m.capacity {
		*pipe = append(*pipe, m.load(r, s.From, k))
		return true
	}
	if m.capacity > 0 || s.Peer == m.absent || len(peer.recvs[r.Rank]) == 0 {
		return false
	}
	i := peer.recvs[r.Rank][0]
	if !peer.ready(i) {
		return false
	}
	m.receive(peer, peer.Steps[i], peer.moved[i], m.load(r, s.From, k))
	peer.moved[i]++
	peer.retire(i)
	return true
}

func (m *simulation) take(r *simRank, s Step, k int) bool {
	pipe := &m.pipes[s.Peer][r.Rank]
	if len(*pipe) == 0 {
		return false
	}
	v := (*pipe)[0]
	*pipe = (*pipe)[1:]
	m.receive(r, s, k, v)
	return true
}

func (m *simulation) receive(r *simRank, s Step, k, v int) {
	switch {
	case s.Kind == Recv:
	case s.Left:
		v = m.op(v, m.load(r, s.From, k))
	default:
		v = m.op(m.load(r, s.From, k), v)
	}
	m.store(r, s.Into, k, v)
}

func (m *simulation) load(r *simRank, at Ref, k int) int {
	v := r.memory[at.Buffer][at.Off+k]
	if v == 0 && m.err == nil {
		m.err = fmt.Errorf("rank %d reads %v[%d], which was never written", r.Rank, at.Buffer, at.Off+k)
	}
	return v
}

func (m *simulation) store(r *simRank, at Ref, k, v int) { r.memory[at.Buffer][at.Off+k] = v }
