package bench

import "fmt"

// Fill writes the pattern of seed over mem. Patterns of different seeds differ in
// every byte.
func Fill(mem []byte, seed byte) {
	for i := range mem {
		mem[i] = byte(i)*31 + seed
	}
}

// Holds is an error unless mem is the pattern of seed from its first byte to its
// last.
func Holds(mem []byte, seed byte) error {
	for i, got := range mem {
		if want := byte(i)*31 + seed; got != want {
			return fmt.Errorf("byte %d of %d is %#02x, want %#02x", i, len(mem), got, want)
		}
	}
	return nil
}

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
