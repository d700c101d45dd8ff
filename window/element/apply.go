package element

import (
	"math"
	"reflect"
)

// apply computes an operation on two elements of at most 8 bytes, given and returned
// as their bits; the bits beyond an element's size are ignored.
type apply func(op Op, target, origin uint64) uint64

func applyOf(k reflect.Kind) apply {
	switch k {
	case reflect.Bool:
		return applyBool
	case reflect.Int8:
		return applyInteger[int8]
	case reflect.Int16:
		return applyInteger[int16]
	case reflect.Int32:
		return applyInteger[int32]
	case reflect.Int64:
		return applyInteger[int64]
	case reflect.Int:
		return applyInteger[int]
	case reflect.Uint8:
		return applyInteger[uint8]
	case reflect.Uint16:
		return applyInteger[uint16]
	case reflect.Uint32:
		return applyInteger[uint32]
	case reflect.Uint64:
		return applyInteger[uint64]
	case reflect.Uint:
		return applyInteger[uint]
	case reflect.Uintptr:
		return applyInteger[uintptr]
	case reflect.Float32:
		return applyFloat32
	case reflect.Float64:
		return applyFloat64
	case reflect.Complex64:
		return applyComplex64
	}
	return nil
}

type integers interface {
	int8 | int16 | int32 | int64 | int | uint8 | uint16 | uint32 | uint64 | uint | uintptr
}

func applyInteger[N integers](op Op, target, origin uint64) uint64 {
	a, b := N(target), N(origin)
	switch op {
	case Sum:
		a += b
	case Prod:
		a *= b
	case Min:
		a = min(a, b)
	case Max:
		a = max(a, b)
	case And:
		a &= b
	case Or:
		a |= b
	case Xor:
		a ^= b
	}
	return uint64(a)
}

// applyBool keeps to 0 and 1, the only bytes that are values of bool.
func applyBool(op Op, target, origin uint64) uint64 {
	return applyInteger[uint8](op, target&1, origin&1)
}

func applyFloat64(op Op, target, origin uint64) uint64 {
	return math.Float64bits(applyReal(op, math.Float64frombits(target), math.Float64frombits(origin)))
}

func applyFloat32(op Op, target, origin uint64) uint64 {
	return uint64(math.Float32bits(applyReal(op, lowFloat(target), lowFloat(origin))))
}

func applyReal[N float32 | float64](op Op, a, b N) N {
	switch op {
	case Sum:
		return a + b
	case Prod:
		return a * b
	case Min:
		return min(a, b)
	}
	return max(a, b)
}

// A complex64 is its real part, then its imaginary one: in little-endian memory the
// low and the high half of the word.
func applyComplex64(op Op, target, origin uint64) uint64 {
	c := applyComplex(op, complex(lowFloat(target), lowFloat(target>>32)), complex(lowFloat(origin), lowFloat(origin>>32)))
	return uint64(math.Float32bits(real(c))) | uint64(math.Float32bits(imag(c)))<<32
}

func applyComplex[N complex64 | complex128](op Op, a, b N) N {
	if op == Sum {
		return a + b
	}
	return a * b
}

func lowFloat(bits uint64) float32 { return math.Float32frombits(uint32(bits)) }
