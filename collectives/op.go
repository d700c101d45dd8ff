package collectives

import "github.com/golaunch/golaunch/collectives/reduce"

// Op is what Reduce and Allreduce do with two elements (MPI 5.0 section 6.9.2).
type Op = reduce.Op

// The operations. Sum and Prod are for all numbers, Min and Max for all but
// complex ones, And, Or and Xor (bitwise) for integers.
const (
	Sum  = reduce.Sum
	Prod = reduce.Prod
	Min  = reduce.Min
	Max  = reduce.Max
	And  = reduce.And
	Or   = reduce.Or
	Xor  = reduce.Xor
)

// Number is what can be reduced: integers, floating-point and complex numbers,
// and types made of them.
type Number = reduce.Number
