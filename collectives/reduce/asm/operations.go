package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The values that the kernels need in registers.
const (
	nan64 = 0x7FF8000000000001 // math.NaN()
	nan32 = 0x7FC000007FC00000 // float32(math.NaN()), twice
	sign  = 1 << 63
	odd   = 0xFF00FF00FF00FF00 // the upper byte of each 16-bit lane
	even  = 0x00FF00FF00FF00FF
)

// kernels lists the functions of the output. Sum, And, Or and Xor are the same for signed and unsigned, and the
// bitwise ones for every width, so they stand once.
func kernels() []kernel {
	all := []kernel{
		{"avx2Sum8", nil, one(VPADDB)}, {"avx2Sum16", nil, one(VPADDW)},
		{"avx2Sum32", nil, one(VPADDD)}, {"avx2Sum64", nil, one(VPADDQ)},
		{"avx2Prod8", []uint64{odd, even}, prod8}, {"avx2Prod16", nil, one(VPMULLW)},
		{"avx2Prod32", nil, one(VPMULLD)}, {"avx2Prod64", nil, prod64},
		{"avx2MinInt8", nil, one(VPMINSB)}, {"avx2MinInt16", nil, one(VPMINSW)}, {"avx2MinInt32", nil, one(VPMINSD)},
		{"avx2MaxInt8", nil, one(VPMAXSB)}, {"avx2MaxInt16", nil, one(VPMAXSW)}, {"avx2MaxInt32", nil, one(VPMAXSD)},
		{"avx2MinUint8", nil, one(VPMINUB)}, {"avx2MinUint16", nil, one(VPMINUW)}, {"avx2MinUint32", nil, one(VPMINUD)},
		{"avx2MaxUint8", nil, one(VPMAXUB)}, {"avx2MaxUint16", nil, one(VPMAXUW)}, {"avx2MaxUint32", nil, one(VPMAXUD)},
		{"avx2MinInt64", nil, lesser64}, {"avx2MaxInt64", nil, greater64},
		{"avx2MinUint64", []uint64{sign}, unsigned(lesser64)}, {"avx2MaxUint64", []uint64{sign}, unsigned(greater64)},
		{"avx2And", nil, one(three(VPAND))}, {"avx2Or", nil, one(three(VPOR))}, {"avx2Xor", nil, one(three(VPXOR))},
	}
	return append(all, floats()...)
}

func one(instruction func(ops ...Op)) func([]reg.VecVirtual, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(_ []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
		instruction(y, x, x)
		return x
	}
}

// three adapts the instructions that have no form with a mask.
func three(instruction func(a, b, dst Op)) func(ops ...Op) {
	return func(ops ...Op) { instruction(ops[0], ops[1], ops[2]) }
}

// prod8 multiplies the even and the odd bytes of 16-bit lanes apart.
func prod8(c []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
	upper, masked := YMM(), YMM()
	VPSRLW(U8(8), x, upper)
	VPAND(c[0], y, masked)
	VPMULLW(masked, upper, upper) // (x>>8) * (y & 0xFF00): the product of the odd bytes, in place
	VPMULLW(y, x, x)
	VPAND(c[1], x, x)
	VPOR(upper, x, x)
	return x
}

// prod64 is low*low + (low*high + high*low)<<32, modulo 2^64.
func prod64(_ []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
	cross, carry := YMM(), YMM()
	VPSHUFD(U8(0xB1), y, cross) // exchanges the halves of each element
	VPMULLD(cross, x, cross)
	VPSRLQ(U8(32), cross, carry)
	VPADDQ(carry, cross, cross)
	VPSLLQ(U8(32), cross, cross)
	VPMULUDQ(y, x, x)
	VPADDQ(cross, x, x)
	return x
}

func lesser64(_ []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
	above := YMM()
	VPCMPGTQ(y, x, above)
	VPBLENDVB(above, y, x, x)
	return x
}

func greater64(_ []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
	above := YMM()
	VPCMPGTQ(y, x, above)
	VPBLENDVB(above, x, y, x)
	return x
}

// unsigned makes of a comparison of signed elements one of unsigned, by moving both ranges down by half.
func unsigned(signed func([]reg.VecVirtual, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual,
) func([]reg.VecVirtual, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
		VPXOR(c[0], x, x)
		VPXOR(c[0], y, y)
		r := signed(nil, x, y)
		VPXOR(c[0], r, r)
		return r
	}
}
