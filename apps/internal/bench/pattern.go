package bench

import "fmt"

// Fill writes the pattern of seed over mem. Patterns of different seeds differ in
// every element.
func Fill(mem []int64, seed int64) {
	for i := range mem {
		mem[i] = element(i, seed)
	}
}

// Holds is an error unless mem is the pattern of seed from its first element to
// its last.
func Holds(mem []int64, seed int64) error {
	for i, got := range mem {
		if want := element(i, seed); got != want {
			return fmt.Errorf("element %d of %d is %#x, want %#x", i, len(mem), got, want)
		}
	}
	return nil
}

// element has bits in every byte.
func element(i int, seed int64) int64 { return int64(i)*0x0101_0101_0101_0101 + seed*0x0123_4567_89ab }

// FillFloats makes element i of mem i + offset.
func FillFloats(mem []float64, offset float64) {
	for i := range mem {
		mem[i] = float64(i) + offset
	}
}

// HoldsSum is an error unless mem is the element-wise sum over ranks whose
// inputs were FillFloats(in, offset+rank). All such sums below 2^53 are exact.
func HoldsSum(mem []float64, ranks int, offset float64) error {
	n := float64(ranks)
	constant := n*offset + n*(n-1)/2
	for i, got := range mem {
		if want := n*float64(i) + constant; got != want {
			return fmt.Errorf("element %d of %d is %v, want %v", i, len(mem), got, want)
		}
	}
	return nil
}
