package main

import (
	"math"
	"testing"
)

// The product of the triangles is the matrix.
func TestLuFactors(t *testing.T) {
	const blocks = 3
	const n = blocks * side
	a := serialLu(blocks)
	at := func(i, k int) float64 { return a[i/side*blocks+k/side][i%side*side+k%side] }
	start := make([]float64, blockSize)
	for i := range n {
		for k := range n {
			startBlock(start, i/side, k/side, n)
			var sum float64
			for l := range min(i, k) + 1 {
				lower := 1.0
				if l < i {
					lower = at(i, l)
				}
				sum += lower * at(l, k)
			}
			if want := start[i%side*side+k%side]; math.Abs(sum-want) > 1e-10 {
				t.Fatalf("element %d, %d of the product is %v, want %v", i, k, sum, want)
			}
		}
	}
}

// No two blocks of a rank are in the same place, and all are within its part.
func TestLuBlocksHavePlaces(t *testing.T) {
	for n := 1; n < 9; n++ {
		for ranks := 1; ranks < 9; ranks++ {
			b := dealBlocks(n, ranks)
			seen := map[[2]int]bool{}
			for i := range n {
				for k := range n {
					place := [2]int{b.owner(i, k), b.disp(i, k)}
					if seen[place] || place[0] >= ranks || place[1]+blockSize > b.length() {
						t.Fatalf("%d x %d blocks on %d ranks: block %d, %d is at %v", n, n, ranks, i, k, place)
					}
					seen[place] = true
				}
			}
		}
	}
}

func TestLuCheckCanFail(t *testing.T) {
	alone(t, 2*side, 0, func(j *job) error {
		b := dealBlocks(2, 1)
		m, err := newLuMemory(j, b)
		if err != nil {
			return err
		}
		f := &factors{job: j, blocks: b, memory: m}
		f.each(0, func(i, k int, block []float64) { startBlock(block, i, k, j.size) })
		if err := f.factorise(); err != nil {
			return err
		}
		if err := f.check(); err != nil {
			return err
		}
		m.take(1, 0)[77] += 1e-15
		return noticed(f.check())
	})
}
