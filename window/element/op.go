package element

import "fmt"

// Op is what an accumulating operation does with the target's element and the
// origin's (MPI-4.1 sections 6.9.2 and 12.3.4).
type Op uint8

// The operations. Integers wrap around. Min and Max of floating-point numbers are
// Go's: a NaN on either side gives NaN. And, Or and Xor of bool are the logical ones.
const (
	Sum     Op = iota + 1 // numbers
	Prod                  // numbers
	Min                   // integers and floating-point numbers
	Max                   // integers and floating-point numbers
	And                   // integers and bool
	Or                    // integers and bool
	Xor                   // integers and bool
	Replace               // any type: the origin's element takes the target's place
	NoOp                  // any type: nothing is changed (to fetch atomically)
	ops
)

var opNames = [ops]string{"", "Sum", "Prod", "Min", "Max", "And", "Or", "Xor", "Replace", "NoOp"}

func (o Op) String() string {
	if o == 0 || o >= ops {
		return fmt.Sprintf("Op(%d)", uint8(o))
	}
	return opNames[o]
}

// Ops returns every operation.
func Ops() (all []Op) {
	for o := Op(1); o < ops; o++ {
		all = append(all, o)
	}
	return all
}

// class is what kind of value an element is, as far as operations care.
type class uint8

const (
	opaque class = iota // structs and arrays
	boolean
	integer
	float
	complexNumber
)

// has says which operations are defined for which values.
func (c class) has(o Op) bool {
	switch o {
	case Sum, Prod:
		return c >= integer
	case Min, Max:
		return c == integer || c == float
	case And, Or, Xor:
		return c == boolean || c == integer
	case Replace, NoOp:
		return true
	}
	return false
}

// Valid returns an error if o is not defined for elements of kind k.
func (k *Kind) Valid(o Op) error {
	if o == 0 || o >= ops {
		return fmt.Errorf("%v is no operation", o)
	}
	if !k.class.has(o) {
		return fmt.Errorf("%v is not defined for elements of type %v", o, k.Type)
	}
	return nil
}
