package reduce

import "fmt"

// Op is a reduction operation. The zero Op is not one.
type Op uint8

// The operations, named as MPI's predefined ones (MPI 4.1, section 6.9.2).
const (
	Sum  Op = iota + 1 // MPI_SUM: all kinds; integers wrap around
	Prod               // MPI_PROD: all kinds; integers wrap around
	Min                // MPI_MIN: all but complex
	Max                // MPI_MAX: all but complex
	And                // MPI_BAND: integers
	Or                 // MPI_BOR: integers
	Xor                // MPI_BXOR: integers
	ops
)

var opNames = [ops]string{Sum: "Sum", Prod: "Prod", Min: "Min", Max: "Max", And: "And", Or: "Or", Xor: "Xor"}

// String returns the operation's name, or "Op(9)" for a value that is no operation.
func (o Op) String() string {
	if o == 0 || o >= ops {
		return fmt.Sprintf("Op(%d)", uint8(o))
	}
	return opNames[o]
}

// Ops returns every operation, in order.
func Ops() []Op { return []Op{Sum, Prod, Min, Max, And, Or, Xor} }

// Valid reports as an error that op is not defined for elements of the kind, or that either is none at all.
// Collectives call it once, where the user's arguments come in; Into and its kin rely on it.
func Valid(kind Kind, op Op) error {
	switch {
	case kind == 0 || kind >= kinds:
		return fmt.Errorf("the element type is not numeric")
	case op == 0 || op >= ops:
		return fmt.Errorf("%v is not a reduction operation", op)
	case !defined(kind, op):
		return fmt.Errorf("%v is not defined for %v", op, kind)
	}
	return nil
}

func defined(kind Kind, op Op) bool {
	switch op {
	case Min, Max:
		return kind < Complex64
	case And, Or, Xor:
		return kind < Float32
	}
	return true
}
