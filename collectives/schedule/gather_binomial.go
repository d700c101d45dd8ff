package schedule

// gatherBinomial: up the binomial tree; a rank collects the blocks of its subtree
// and passes them on together. The root hears from log2 n ranks instead of n-1.
//
// Thakur, Rabenseifner, Gropp 2005.
func gatherBinomial(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, 0)
	t := gatherTree{builder: b, plan: p, relative: p.relative(rank)}
	if t.relative == 0 {
		b.Out, b.InAt = p.Count*p.Size, p.Count*rank
	} else if held := t.subtree(t.relative); held > 1 {
		t.temp = b.temp(held * p.Count)
	}
	t.after = append(t.after, t.own())
	for child := 1; t.relative+child < p.Size && t.relative&child == 0; child *= 2 {
		t.collect(t.relative + child)
	}
	if t.relative != 0 {
		t.passOn()
	}
	return b.Schedule
}

type gatherTree struct {
	*builder
	plan     Plan
	relative int
	temp     Ref   // the subtree's blocks, in the order of the ring from this rank on
	after    []int // the steps that fill it
}

// subtree is how many ranks the subtree of a relative rank has.
func (t *gatherTree) subtree(relative int) int {
	if relative == 0 {
		return t.plan.Size
	}
	return min(relative&-relative, t.plan.Size-relative)
}

// own puts the rank's own block beside its children's. A leaf has none, and sends
// straight from In.
func (t *gatherTree) own() int {
	if t.relative != 0 && t.subtree(t.relative) == 1 {
		return none
	}
	return t.copy(t.place(t.relative, span{t.Rank, 1}), Ref{In, 0}, t.plan.Count)
}

// place is where this rank keeps the blocks of a run of ranks that starts at the
// given relative rank.
func (t *gatherTree) place(relative int, run span) Ref {
	if t.relative == 0 {
		return Ref{Out, run.off * t.plan.Count}
	}
	return t.temp.plus((relative - t.relative) * t.plan.Count)
}

// collect receives a child's blocks, in two runs where they wrap around rank 0.
func (t *gatherTree) collect(child int) {
	peer, at := t.plan.absolute(child), child
	for _, run := range ring(peer, t.subtree(child), t.plan.Size) {
		got := t.recv(peer, t.place(at, run), run.n*t.plan.Count)
		t.after = append(t.after, got)
		at += run.n
	}
}

// passOn sends the blocks to the parent, in the same runs.
func (t *gatherTree) passOn() {
	parent := t.plan.absolute(t.relative & (t.relative - 1))
	held, at := t.subtree(t.relative), t.relative
	if held == 1 {
		t.send(parent, Ref{In, 0}, t.plan.Count)
		return
	}
	for _, run := range ring(t.Rank, held, t.plan.Size) {
		t.send(parent, t.place(at, run), run.n*t.plan.Count, t.after...)
		at += run.n
	}
}
