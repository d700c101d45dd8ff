//go:build !race

package reduce

//go:generate go run ./asm -out kernels_amd64.s -stubs kernels_amd64.go -pkg reduce

import "golang.org/x/sys/cpu"

// vectorBytes is what the kernels handle whole numbers of.
const vectorBytes = 32

// hasVectors is decided once: a variable that never changes is a branch that is always predicted.
var hasVectors = cpu.X86.HasAVX2

// vector reduces a multiple of vectorBytes with a kernel in assembly and reports whether there is one. Calls are direct: through a
// function value the arguments would escape. Complex sums are those of the components; complex products and all
// that is undefined have no kernel.
func vector(kind Kind, op Op, dst, a, b *byte, n int) bool {
	switch op {
	case Sum:
		return vectorSum(kind, dst, a, b, n)
	case Prod:
		return vectorProd(kind, dst, a, b, n)
	case Min:
		return vectorMin(kind, dst, a, b, n)
	case Max:
		return vectorMax(kind, dst, a, b, n)
	}
	return kind != 0 && kind < Float32 && vectorBits(op, dst, a, b, n)
}

func vectorSum(kind Kind, dst, a, b *byte, n int) bool {
	switch kind {
	case Int8, Uint8:
		avx2Sum8(dst, a, b, n)
	case Int16, Uint16:
		avx2Sum16(dst, a, b, n)
	case Int32, Uint32:
		avx2Sum32(dst, a, b, n)
	case Int64, Uint64:
		avx2Sum64(dst, a, b, n)
	case Float32, Complex64:
		avx2SumFloat32(dst, a, b, n)
	case Float64, Complex128:
		avx2SumFloat64(dst, a, b, n)
	default:
		return false
	}
	return true
}

func vectorProd(kind Kind, dst, a, b *byte, n int) bool {
	switch kind {
	case Int8, Uint8:
		avx2Prod8(dst, a, b, n)
	case Int16, Uint16:
		avx2Prod16(dst, a, b, n)
	case Int32, Uint32:
		avx2Prod32(dst, a, b, n)
	case Int64, Uint64:
		avx2Prod64(dst, a, b, n)
	case Float32:
		avx2ProdFloat32(dst, a, b, n)
	case Float64:
		avx2ProdFloat64(dst, a, b, n)
	default:
		return false
	}
	return true
}

func vectorMin(kind Kind, dst, a, b *byte, n int) bool {
	switch kind {
	case Int8:
		avx2MinInt8(dst, a, b, n)
	case Int16:
		avx2MinInt16(dst, a, b, n)
	case Int32:
		avx2MinInt32(dst, a, b, n)
	case Int64:
		avx2MinInt64(dst, a, b, n)
	case Uint8:
		avx2MinUint8(dst, a, b, n)
	case Uint16:
		avx2MinUint16(dst, a, b, n)
	case Uint32:
		avx2MinUint32(dst, a, b, n)
	case Uint64:
		avx2MinUint64(dst, a, b, n)
	case Float32:
		avx2MinFloat32(dst, a, b, n)
	case Float64:
		avx2MinFloat64(dst, a, b, n)
	default:
		return false
	}
	return true
}

func vectorMax(kind Kind, dst, a, b *byte, n int) bool {
	switch kind {
	case Int8:
		avx2MaxInt8(dst, a, b, n)
	case Int16:
		avx2MaxInt16(dst, a, b, n)
	case Int32:
		avx2MaxInt32(dst, a, b, n)
	case Int64:
		avx2MaxInt64(dst, a, b, n)
	case Uint8:
		avx2MaxUint8(dst, a, b, n)
	case Uint16:
		avx2MaxUint16(dst, a, b, n)
	case Uint32:
		avx2MaxUint32(dst, a, b, n)
	case Uint64:
		avx2MaxUint64(dst, a, b, n)
	case Float32:
		avx2MaxFloat32(dst, a, b, n)
	case Float64:
		avx2MaxFloat64(dst, a, b, n)
	default:
		return false
	}
	return true
}

func vectorBits(op Op, dst, a, b *byte, n int) bool {
	switch op {
	case And:
		avx2And(dst, a, b, n)
	case Or:
		avx2Or(dst, a, b, n)
	case Xor:
		avx2Xor(dst, a, b, n)
	default:
		return false
	}
	return true
}
