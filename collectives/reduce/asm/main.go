// Command asm writes the AVX2 kernels of collectives/reduce: go run ./asm -out kernels_amd64.s -stubs kernels_amd64.go -pkg reduce
//
// Every kernel is the same loop around another few instructions, so the instructions are all that this package
// lists (operations.go).
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector is the bytes of a YMM register; unroll is how many of them one turn of the main loop does. More than four
// gained nothing: the loop is bound by two loads a cycle already.
const (
	vector = 32
	unroll = 4
)

func main() {
	ConstraintExpr("!race")
	for _, k := range kernels() {
		emit(k)
	}
	Generate()
}

// kernel is one function of the output.
type kernel struct {
	name   string
	consts []uint64 // broadcast into registers before the loop
	apply  func(consts []reg.VecVirtual, x, y reg.VecVirtual) (result reg.VecVirtual)
}

// emit writes func name(dst, a, b *byte, n int), which handles n bytes, a multiple of the vector.
func emit(k kernel) {
	TEXT(k.name, NOSPLIT, "func(dst, a, b *byte, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s handles n bytes, which is a multiple of %d.", k.name, vector))
	p := pointers{
		dst: Load(Param("dst"), GP64()), a: Load(Param("a"), GP64()), b: Load(Param("b"), GP64()), at: GP64(),
	}
	left := Load(Param("n"), GP64())
	consts := broadcast(k.consts)
	XORQ(p.at, p.at)
	loop(k, p, consts, left, "four", unroll)
	loop(k, p, consts, left, "one", 1)
	VZEROUPPER()
	RET()
}

type pointers struct{ dst, a, b, at reg.Register }

// loop handles count vectors a turn while that many are left.
func loop(k kernel, p pointers, consts []reg.VecVirtual, left reg.Register, label string, count int) {
	step := U32(count * vector)
	SUBQ(step, left)
	JB(LabelRef(label + "Done"))
	Label(label)
	for i := range count {
		x, y := YMM(), YMM()
		VMOVDQU(Mem{Base: p.a, Index: p.at, Scale: 1, Disp: i * vector}, x)
		VMOVDQU(Mem{Base: p.b, Index: p.at, Scale: 1, Disp: i * vector}, y)
		VMOVDQU(k.apply(consts, x, y), Mem{Base: p.dst, Index: p.at, Scale: 1, Disp: i * vector})
	}
	ADDQ(step, p.at)
	SUBQ(step, left)
	JAE(LabelRef(label))
	Label(label + "Done")
	ADDQ(step, left)
}

// broadcast fills a register with copies of each value.
func broadcast(values []uint64) (filled []reg.VecVirtual) {
	for _, v := range values {
		word, half, full := GP64(), XMM(), YMM()
		MOVQ(U64(v), word)
		MOVQ(word, half)
		VPBROADCASTQ(half, full)
		filled = append(filled, full)
	}
	return filled
}
