package reduce

import "math"

// canonical replaces every NaN by the one this package gives out. Which operand's NaN an addition hands on, and
// what NaN Inf-Inf makes, differs between processors and with the order the compiler picks.
func canonical[T float](r T) T {
	if r != r {
		return T(math.NaN())
	}
	return r
}

func sumFloat[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = canonical(a[i] + b[i])
	}
}

func prodFloat[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = canonical(a[i] * b[i])
	}
}

func minFloat[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = canonical(min(a[i], b[i]))
	}
}

func maxFloat[T float](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = canonical(max(a[i], b[i]))
	}
}

// prodComplex64 computes in float64, where the products of two float32 are exact: so it is the same with and
// without a fused multiply-add.
func prodComplex64(dst, a, b []complex64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		ar, ai, br, bi := float64(real(a[i])), float64(imag(a[i])), float64(real(b[i])), float64(imag(b[i]))
		dst[i] = complex(canonical(float32(ar*br-ai*bi)), canonical(float32(ar*bi+ai*br)))
	}
}

// prodComplex128 rounds every product (the conversions say so to the compiler), because processors differ in
// having a fused multiply-add.
func prodComplex128(dst, a, b []complex128) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		ar, ai, br, bi := real(a[i]), imag(a[i]), real(b[i]), imag(b[i])
		re := float64(ar*br) - float64(ai*bi)
		im := float64(ar*bi) + float64(ai*br)
		dst[i] = complex(canonical(re), canonical(im))
	}
}
