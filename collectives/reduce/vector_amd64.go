//go:build !race

package reduce

//go:generate go run ./asm -out kernels_amd64.s -stubs kernels_amd64.go -pkg reduce

import "golang.org/x/sys/cpu"

// vectorBytes is what the kernels handle whole numbers of.
const vectorBytes = 32

// hasVectors is decided once: a variable that never changes is a branch that is always predicted.
var hasVectors = cpu.X86.HasAVX2

// vector reduces a multiple of vectorBytes with a kernel in assembly and reports whether there is one. Calls are
// direct: through a function value the arguments would escape. Complex sums are those of the components; complex
// products and all that is undefined have no kernel.
func vector(kind Kind, op Op, first, second, a, b *byte, n int, stream bool) bool {
	switch op {
	case Sum:
		return vectorSum(kind, first, second, a, b, n, stream)
	case Prod:
		return vectorProd(kind, first, second, a, b, n, stream)
	case Min:
		return vectorMin(kind, first, second, a, b, n, stream)
	case Max:
		return vectorMax(kind, first, second, a, b, n, stream)
	}
	return kind != 0 && kind < Float32 && vectorBits(op, first, second, a, b, n, stream)
}

func vectorSum(kind Kind, first, second, a, b *byte, n int, stream bool) bool {
	switch kind {
	case Int8, Uint8:
		avx2Sum8(first, second, a, b, n, stream)
	case Int16, Uint16:
		avx2Sum16(first, second, a, b, n, stream)
	case Int32, Uint32:
		avx2Sum32(first, second, a, b, n, stream)
	case Int64, Uint64:
		avx2Sum64(first, second, a, b, n, stream)
	case Float32, Complex64:
		avx2SumFloat32(first, second, a, b, n, stream)
	case Float64, Complex128:
		avx2SumFloat64(first, second, a, b, n, stream)
	default:
		return false
	}
	return true
}

func vectorProd(kind Kind, first, second, a, b *byte, n int, stream bool) bool {
	switch kind {
	case Int8, Uint8:
		avx2Prod8(first, second, a, b, n, stream)
	case Int16, Uint16:
		avx2Prod16(first, second, a, b, n, stream)
	case Int32, Uint32:
		avx2Prod32(first, second, a, b, n, stream)
	case Int64, Uint64:
		avx2Prod64(first, second, a, b, n, stream)
	case Float32:
		avx2ProdFloat32(first, second, a, b, n, stream)
	case Float64:
		avx2ProdFloat64(first, second, a, b, n, stream)
	default:
		return false
	}
	return true
}

func vectorMin(kind Kind, first, second, a, b *byte, n int, stream bool) bool {
	switch kind {
	case Int8:
		avx2MinInt8(first, second, a, b, n, stream)
	case Int16:
		avx2MinInt16(first, second, a, b, n, stream)
	case Int32:
		avx2MinInt32(first, second, a, b, n, stream)
	case Int64:
		avx2MinInt64(first, second, a, b, n, stream)
	case Uint8:
		avx2MinUint8(first, second, a, b, n, stream)
	case Uint16:
		avx2MinUint16(first, second, a, b, n, stream)
	case Uint32:
		avx2MinUint32(first, second, a, b, n, stream)
	case Uint64:
		avx2MinUint64(first, second, a, b, n, stream)
	case Float32:
		avx2MinFloat32(first, second, a, b, n, stream)
	case Float64:
		avx2MinFloat64(first, second, a, b, n, stream)
	default:
		return false
	}
	return true
}

func vectorMax(kind Kind, first, second, a, b *byte, n int, stream bool) bool {
	switch kind {
	case Int8:
		avx2MaxInt8(first, second, a, b, n, stream)
	case Int16:
		avx2MaxInt16(first, second, a, b, n, stream)
	case Int32:
		avx2MaxInt32(first, second, a, b, n, stream)
	case Int64:
		avx2MaxInt64(first, second, a, b, n, stream)
	case Uint8:
		avx2MaxUint8(first, second, a, b, n, stream)
	case Uint16:
		avx2MaxUint16(first, second, a, b, n, stream)
	case Uint32:
		avx2MaxUint32(first, second, a, b, n, stream)
	case Uint64:
		avx2MaxUint64(first, second, a, b, n, stream)
	case Float32:
		avx2MaxFloat32(first, second, a, b, n, stream)
	case Float64:
		avx2MaxFloat64(first, second, a, b, n, stream)
	default:
		return false
	}
	return true
}

func vectorBits(op Op, first, second, a, b *byte, n int, stream bool) bool {
	switch op {
	case And:
		avx2And(first, second, a, b, n, stream)
	case Or:
		avx2Or(first, second, a, b, n, stream)
	case Xor:
		avx2Xor(first, second, a, b, n, stream)
	default:
		return false
	}
	return true
}
