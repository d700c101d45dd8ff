package main

import "math"

// lu factorises a square matrix into a lower and an upper triangle, in place and
// without pivoting, which a dominant diagonal allows. The matrix is divided into
// square blocks of side, dealt to the ranks as to a chessboard of them (SPLASH-2's
// LU with contiguous blocks). In step k the block on the diagonal is factorised,
// then those beside and below it, then all others are updated.
func lu(j *job) error {
	layout := dealBlocks(j.size/side, j.ranks())
	memory, err := newLuMemory(j, layout)
	if err != nil {
		return err
	}
	f := &factors{job: j, blocks: layout, memory: memory}
	f.each(0, func(i, k int, block []float64) { startBlock(block, i, k, j.size) })
	if err := memory.done(); err != nil {
		return err
	}
	if err := j.time(f.factorise); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	return memory.free()
}

// side is how many rows and columns a block has: two pages hold one.
const side = 32

const blockSize = side * side

// luMemory is where the blocks lie.
type luMemory interface {
	// take is the memory of an own block, to be changed; it is put back by give.
	take(i, k int) []float64
	give(i, k int)

	// final is a block of any rank, whose owner has finished it before the last done.
	// It stays as it is until the next done.
	final(i, k int) []float64

	// expect says that a block will be asked for as final.
	expect(i, k int)

	// done is called by all ranks together. Its error is the first of any call.
	done() error
	free() error
}

// blocks says who has which: a rank's are those whose row and column, modulo the
// sides of the board, are its place there.
type blocks struct {
	n          int // blocks in a row
	rows, cols int // of the board of ranks
}

// dealBlocks makes the board as square as the number of ranks allows.
func dealBlocks(n, ranks int) blocks {
	rows := int(math.Sqrt(float64(ranks)))
	for ranks%rows != 0 {
		rows--
	}
	return blocks{n, rows, ranks / rows}
}

func (b blocks) owner(i, k int) int { return i%b.rows*b.cols + k%b.cols }

// disp is where a block lies in its owner's part: column by column, as they are read.
func (b blocks) disp(i, k int) int { return (k/b.cols*most(b.n, b.rows) + i/b.rows) * blockSize }

// length is that of each part.
func (b blocks) length() int { return most(b.n, b.rows) * most(b.n, b.cols) * blockSize }

type factors struct {
	*job
	blocks
	memory luMemory
}

func (f *factors) mine(i, k int) bool { return f.owner(i, k) == f.me() }

// each changes the own blocks from row and column from on.
func (f *factors) each(from int, change func(i, k int, block []float64)) {
	for i := from; i < f.n; i++ {
		for k := from; k < f.n; k++ {
			f.one(i, k, change)
		}
	}
}

func (f *factors) one(i, k int, change func(i, k int, block []float64)) {
	if f.mine(i, k) {
		change(i, k, f.memory.take(i, k))
		f.memory.give(i, k)
	}
}

func (f *factors) factorise() error {
	for k := range f.n {
		f.one(k, k, func(_, _ int, block []float64) { factorise(block) })
		if err := f.memory.done(); err != nil {
			return err
		}
		for i := k + 1; i < f.n; i++ {
			f.one(i, k, func(_, _ int, block []float64) { divideRight(block, f.memory.final(k, k)) })
			f.one(k, i, func(_, _ int, block []float64) { divideLeft(block, f.memory.final(k, k)) })
		}
		if err := f.memory.done(); err != nil {
			return err
		}
		f.expect(k)
		f.each(k+1, func(i, l int, block []float64) {
			subtractProduct(block, f.memory.final(i, k), f.memory.final(k, l))
		})
	}
	return f.memory.done()
}

// expect is for what a rank needs to update its blocks in step k.
func (f *factors) expect(k int) {
	for i := k + 1; i < f.n; i++ {
		if i%f.rows == f.me()/f.cols {
			f.memory.expect(i, k)
		}
		if i%f.cols == f.me()%f.cols {
			f.memory.expect(k, i)
		}
	}
}

// check compares at rank 0.
func (f *factors) check() error {
	if !f.verify || f.me() != 0 {
		return nil
	}
	want := serialLu(f.n)
	for at, w := range want {
		for e, got := range f.memory.final(at/f.n, at%f.n) {
			if math.Float64bits(w[e]) != math.Float64bits(got) {
				return f.differ("element of block", at, got, w[e])
			}
		}
	}
	return nil
}

// serialLu is the factorised matrix, by blocks.
func serialLu(n int) [][]float64 {
	a := make([][]float64, n*n)
	for at := range a {
		a[at] = make([]float64, blockSize)
		startBlock(a[at], at/n, at%n, n*side)
	}
	for k := range n {
		diagonal := a[k*n+k]
		factorise(diagonal)
		for i := k + 1; i < n; i++ {
			divideRight(a[i*n+k], diagonal)
			divideLeft(a[k*n+i], diagonal)
		}
		for i := k + 1; i < n; i++ {
			for l := k + 1; l < n; l++ {
				subtractProduct(a[i*n+l], a[i*n+k], a[k*n+l])
			}
		}
	}
	return a
}
