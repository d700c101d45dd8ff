package main

import "math"

// relax computes a row of the next time step from the same row and its two
// neighbours of this one. Cells in spans keep what they have; the first and the
// last cell must be among them.
//
// Every rank and the serial computation go through this function, so that their
// results can be equal bit for bit. The conversion to float64 keeps the compiler
// from fusing the product with the sum, which it might do at one place of
// inlining and not at another.
func relax(dst, above, row, below []float64, spans []span) {
	n := len(dst)
	above, row, below = above[:n], row[:n], below[:n]
	for i := 1; i < n-1; i++ {
		here := row[i]
		flow := (above[i] + below[i]) + (row[i-1] + row[i+1]) - 4*here
		dst[i] = here + float64(rate*flow)
	}
	for _, s := range spans {
		copy(dst[s.from:s.to], row[s.from:s.to])
	}
}

// largestChange is the greatest difference between two states of some rows. A
// maximum, unlike a sum, does not depend on how the rows are divided.
func largestChange(a, b []float64) float64 {
	most := 0.0
	for i, v := range a {
		most = max(most, math.Abs(v-b[i]))
	}
	return most
}
