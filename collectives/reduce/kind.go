package reduce

import (
	"fmt"
	"reflect"
)

// Kind is the kind of an array's elements. The zero Kind means that they are not numbers.
type Kind uint8

// The kinds. The order is relied on: integers, then floating-point, then complex.
const (
	Int8 Kind = iota + 1
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	kinds
)

var kindInfo = [kinds]struct {
	name string
	size uint8
}{
	Int8: {"int8", 1}, Int16: {"int16", 2}, Int32: {"int32", 4}, Int64: {"int64", 8},
	Uint8: {"uint8", 1}, Uint16: {"uint16", 2}, Uint32: {"uint32", 4}, Uint64: {"uint64", 8},
	Float32: {"float32", 4}, Float64: {"float64", 8}, Complex64: {"complex64", 8}, Complex128: {"complex128", 16},
}

// Kinds returns every kind, in order.
func Kinds() []Kind {
	all := make([]Kind, 0, kinds-1)
	for k := Kind(1); k < kinds; k++ {
		all = append(all, k)
	}
	return all
}

// Size returns the bytes of one element, and 0 for no kind.
func (k Kind) Size() int {
	if k >= kinds {
		return 0
	}
	return int(kindInfo[k].size)
}

// String returns the name of the Go type of the kind.
func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindInfo[k].name
}

// Number is every element type that can be reduced, named types included.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// fromReflect is indexed by reflect.Kind, which no Go release may renumber.
var fromReflect = [32]Kind{
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64,
	reflect.Complex64: Complex64, reflect.Complex128: Complex128,
	reflect.Int: word(Int64, Int32), reflect.Uint: word(Uint64, Uint32), reflect.Uintptr: word(Uint64, Uint32),
}

// word picks the kind of int, uint and uintptr.
func word(of64, of32 Kind) Kind {
	if ^uint(0)>>32 == 0 {
		return of32
	}
	return of64
}

// KindOf returns the kind of T or of the type under it, and 0 when that is not a number. It does not allocate and
// costs a nanosecond or two.
func KindOf[T any]() Kind {
	return fromReflect[reflect.TypeFor[T]().Kind()&31]
}
