package main

// rows returns the rows that rank computes, first to end-1: all blocks are
// consecutive and differ in size by at most one.
func rows(n, rank, ranks int) (first, end int) {
	return rank * n / ranks, (rank + 1) * n / ranks
}

// block is a rank's part of the plate: its rows, and for each of them the
// cells that are held. The two states of the plate alternate: one is read while the other is
// written.
//
// A state lies in a window, as the rank's own rows with one more row above and
// one below, the halo, into which the neighbours put the rows that border on
// these. On the rim of the plate the halo is not used.
type block struct {
	plate
	first, end int      // rows of the plate
	spans      [][]span // of each own row
}

func newBlock(p plate, rank, ranks int) *block {
	b := &block{plate: p}
	b.first, b.end = rows(p.n, rank, ranks)
	for row := b.first; row < b.end; row++ {
		b.spans = append(b.spans, p.held(row))
	}
	return b
}

// rows is how many rows the rank computes.
func (b *block) rows() int { return b.end - b.first }

// cells is the size of a state, in cells.
func (b *block) cells() int { return (b.rows() + 2) * b.n }

// line is row i of a state: own rows count from 0, the halo is -1 and rows().
func (b *block) line(state []float64, i int) []float64 {
	return state[(i+1)*b.n : (i+2)*b.n]
}

// own is the part of a state that is not halo.
func (b *block) own(state []float64) []float64 {
	return state[b.n : (b.rows()+1)*b.n]
}

// start sets the own rows of a state to what the plate starts with.
func (b *block) start(state []float64) {
	for i, spans := range b.spans {
		start(b.line(state, i), spans)
	}
}

// relax computes own rows from to end-1 of next.
func (b *block) relax(next, now []float64, from, end int) {
	for i := from; i < end; i++ {
		relax(b.line(next, i), b.line(now, i-1), b.line(now, i), b.line(now, i+1), b.spans[i])
	}
}
