package reduce

import "fmt"

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

type float interface{ ~float32 | ~float64 }

// scalar is Into in Go alone: the whole of it where there is no assembly, the ends of arrays where there is, and
// what the assembly is tested against. It does the whole elements in n bytes. Pointers, because nine words of slices
// do not fit the registers that arguments travel in.
func scalar(kind Kind, op Op, dst, a, b *byte, n int) {
	switch kind {
	case Int8:
		integers[int8](op, dst, a, b, n)
	case Int16:
		integers[int16](op, dst, a, b, n)
	case Int32:
		integers[int32](op, dst, a, b, n)
	case Int64:
		integers[int64](op, dst, a, b, n)
	case Uint8:
		integers[uint8](op, dst, a, b, n)
	case Uint16:
		integers[uint16](op, dst, a, b, n)
	case Uint32:
		integers[uint32](op, dst, a, b, n)
	case Uint64:
		integers[uint64](op, dst, a, b, n)
	case Float32:
		floats[float32](op, dst, a, b, n)
	case Float64:
		floats[float64](op, dst, a, b, n)
	case Complex64, Complex128:
		complexes(kind, op, dst, a, b, n)
	default:
		undefined(kind, op)
	}
}

func integers[T integer](op Op, dst, a, b *byte, n int) {
	d, x, y := elements[T](dst, n), elements[T](a, n), elements[T](b, n)
	switch op {
	case Sum:
		sum(d, x, y)
	case Prod:
		prod(d, x, y)
	case Min:
		minimum(d, x, y)
	case Max:
		maximum(d, x, y)
	case And:
		and(d, x, y)
	case Or:
		or(d, x, y)
	case Xor:
		xor(d, x, y)
	default:
		undefined(KindOf[T](), op)
	}
}

func floats[T float](op Op, dst, a, b *byte, n int) {
	d, x, y := elements[T](dst, n), elements[T](a, n), elements[T](b, n)
	switch op {
	case Sum:
		sumFloat(d, x, y)
	case Prod:
		prodFloat(d, x, y)
	case Min:
		minFloat(d, x, y)
	case Max:
		maxFloat(d, x, y)
	default:
		undefined(KindOf[T](), op)
	}
}

// complexes adds complex numbers as twice as many real ones.
func complexes(kind Kind, op Op, dst, a, b *byte, n int) {
	switch {
	case op == Sum && kind == Complex64:
		floats[float32](op, dst, a, b, n)
	case op == Sum:
		floats[float64](op, dst, a, b, n)
	case op == Prod && kind == Complex64:
		prodComplex64(elements[complex64](dst, n), elements[complex64](a, n), elements[complex64](b, n))
	case op == Prod:
		prodComplex128(elements[complex128](dst, n), elements[complex128](a, n), elements[complex128](b, n))
	default:
		undefined(kind, op)
	}
}

// undefined tells a caller inside the house that it did not ask Valid. A user's mistake never comes this far.
//
//go:noinline
func undefined(kind Kind, op Op) {
	panic(fmt.Sprintf("reduce: %v of %v is not defined and was not checked with Valid", op, kind))
}
