package main

import "math"

// sor relaxes a square plate towards the potential between its borders. Its
// points are red and black as the squares of a chessboard: those of one colour
// are computed from those of the other, so within a half step their order does
// not matter. Each colour has an array of its own, or a page would hold what one
// rank reads while another writes: point (i, j) is element j/2 of row i of colour
// (i+j)%2. The rows are divided among the ranks.
func sor(j *job) error {
	s, err := newSorMemory(j)
	if err != nil {
		return err
	}
	p := &plate{job: j, memory: s}
	p.first, p.end = share(j.size, j.me(), j.ranks())
	p.start()
	if err := s.begin(); err != nil {
		return err
	}
	if err := j.time(p.relax); err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	return s.free()
}

// sorMemory is where the rows lie.
type sorMemory interface {
	// row is the memory of an own row, or of one that borders on these.
	row(colour, i int) []float64

	// begin is called by all ranks when they have written their rows.
	begin() error

	// half has all ranks compute a colour of their rows by relax, in an order that hides
	// what is under way meanwhile, and waits for all.
	half(colour int, relax func(colour, first, end int)) error

	// publish makes own rows known to everybody, who then calls read.
	publish() error
	read(colour, i int, dst []float64) error

	free() error
}

const omega = 1.5

// plate is one rank's rows of it.
type plate struct {
	*job
	memory     sorMemory
	first, end int
}

func (p *plate) start() {
	for colour := range 2 {
		for i := p.first; i < p.end; i++ {
			startRow(p.memory.row(colour, i), i, p.size)
		}
	}
}

func (p *plate) relax() error {
	for range p.steps {
		for colour := range 2 {
			if err := p.memory.half(colour, p.relaxRows); err != nil {
				return err
			}
		}
	}
	return nil
}

// relaxRows computes the points of a colour in some rows. The first and the last row of the
// plate stay as they are.
func (p *plate) relaxRows(colour, first, end int) {
	for i := max(first, 1); i < min(end, p.size-1); i++ {
		row, other := p.memory.row, 1-colour
		relaxRow(row(colour, i), row(other, i-1), row(other, i), row(other, i+1), (i+colour)%2)
	}
}

// check compares at rank 0.
func (p *plate) check() error {
	if err := p.memory.publish(); err != nil || !p.verify || p.me() != 0 {
		return err
	}
	want, got := serialSor(p.size, p.steps), make([]float64, p.size/2)
	for colour := range 2 {
		for i := range p.size {
			if err := p.memory.read(colour, i, got); err != nil {
				return err
			}
			for k, w := range want[colour][i*len(got):][:len(got)] {
				if math.Float64bits(w) != math.Float64bits(got[k]) {
					return p.differ("point of row", i, got[k], w)
				}
			}
		}
	}
	return nil
}

// startRow is hot above and cold elsewhere, but for the left border.
func startRow(row []float64, i, n int) {
	clear(row)
	if i == 0 {
		for k := range row {
			row[k] = 1
		}
	}
	row[0] = float64(i) / float64(n)
}

// relaxRow computes the points of one colour of a row from the other colour of the
// row above, the same and the one below. The first point lies in column parity. Products
// are converted so that they are not fused, here or there, with sums.
func relaxRow(dst, above, row, below []float64, parity int) {
	n := len(dst)
	first, end := 1-parity, n-parity // columns 0 and 2n-1 are the border
	dst, above, below = dst[first:end], above[first:end], below[first:end]
	left, right := row[first+parity-1:][:len(dst)], row[first+parity:][:len(dst)]
	for k, old := range dst {
		mean := float64(0.25 * ((above[k] + below[k]) + (left[k] + right[k])))
		dst[k] = old + float64(omega*(mean-old))
	}
}

// serialSor is the whole plate after some steps, by colour.
func serialSor(n, steps int) (colours [2][]float64) {
	m := n / 2
	for c := range colours {
		colours[c] = make([]float64, n*m)
		for i := range n {
			startRow(colours[c][i*m:][:m], i, n)
		}
	}
	row := func(colour, i int) []float64 { return colours[colour][i*m:][:m] }
	for range steps {
		for c := range 2 {
			for i := 1; i < n-1; i++ {
				relaxRow(row(c, i), row(1-c, i-1), row(1-c, i), row(1-c, i+1), (i+c)%2)
			}
		}
	}
	return colours
}
