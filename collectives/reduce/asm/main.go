// Command asm writes the AVX2 kernels of collectives/reduce; go generate in that directory runs it.
//
// Every kernel is the same loops around another few instructions, so the instructions are all that this package
// lists (operations.go, floats.go).
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector is the bytes of a YMM register; unroll is how many of them one turn of the main loop does: two lines of
// the cache. More gained nothing, the loop is bound by two loads a cycle already.
const (
	vector = 32
	unroll = 4
)

func main() {
	ConstraintExpr("!race")
	for _, k := range kernels() {
		k.emit()
	}
	Generate()
}

// kernel is one function of the output.
type kernel struct {
	name   string
	consts []uint64 // broadcast into registers before the loop
	apply  func(consts []reg.VecVirtual, x, y reg.VecVirtual) (result reg.VecVirtual)
}

// emit writes a function that handles n bytes, a multiple of the vector, in one or two destinations: streaming as
// long as whole turns of the main loop are left, if asked to, and then as usual.
func (k kernel) emit() {
	TEXT(k.name, NOSPLIT, "func(first, second, a, b *byte, n int, stream bool)")
	Pragma("noescape")
	Doc(k.name + " is a kernel; see vectors, which calls it.")
	f := k.frame()
	TESTQ(f.second, f.second)
	JNZ(LabelRef("two"))
	k.passes(f, "one", []reg.Register{f.first})
	Label("two")
	k.passes(f, "two", []reg.Register{f.first, f.second})
}

// frame is the function's arguments in registers. The index at runs over all arrays, left counts down.
type frame struct {
	first, second, a, b, at, left, stream reg.Register
	consts                                []reg.VecVirtual
}

func (k kernel) frame() frame {
	f := frame{
		first: Load(Param("first"), GP64()), second: Load(Param("second"), GP64()),
		a: Load(Param("a"), GP64()), b: Load(Param("b"), GP64()),
		left: Load(Param("n"), GP64()), stream: Load(Param("stream"), GP8()),
		at: GP64(), consts: broadcast(k.consts),
	}
	XORQ(f.at, f.at)
	return f
}

// broadcast fills a register with copies of each value.
func broadcast(values []uint64) (filled []reg.VecVirtual) {
	for _, v := range values {
		word, half, full := GP64(), XMM(), YMM()
		MOVQ(U64(v), word)
		VMOVQ(word, half)
		VPBROADCASTQ(half, full)
		filled = append(filled, full)
	}
	return filled
}

func (k kernel) passes(f frame, label string, to []reg.Register) {
	TESTB(f.stream, f.stream)
	JZ(LabelRef(label + "Cached"))
	loop(f, label+"Stream", unroll, func() { k.streamed(f, to) })
	SFENCE() // no reader may see a flag stored later before what the loop wrote
	Label(label + "Cached")
	loop(f, label+"Four", unroll, func() { k.stored(f, to, unroll) })
	loop(f, label+"Single", 1, func() { k.stored(f, to, 1) })
	VZEROUPPER()
	RET()
}

// loop does turns of so many vectors while that many are left.
func loop(f frame, label string, vectors int, turn func()) {
	step := U32(vectors * vector)
	SUBQ(step, f.left)
	JB(LabelRef(label + "Done"))
	Label(label)
	turn()
	ADDQ(step, f.at)
	SUBQ(step, f.left)
	JAE(LabelRef(label))
	Label(label + "Done")
	ADDQ(step, f.left)
}

// stored writes each vector as soon as it is there. With two destinations this took 30 us for 1 MiB of them in two
// processes; four vectors to one and then four to the other took 41.
func (k kernel) stored(f frame, to []reg.Register, vectors int) {
	for i := range vectors {
		r := k.result(f, i)
		for _, dst := range to {
			VMOVDQU(r, at(f, dst, i))
		}
	}
}

// streamed writes whole lines past the caches, one array after the other: the processor gathers a line in one of
// few buffers until it is complete. Precondition: the destinations are aligned to a vector.
func (k kernel) streamed(f frame, to []reg.Register) {
	var r [unroll]reg.VecVirtual
	for i := range r {
		r[i] = k.result(f, i)
	}
	for _, dst := range to {
		for i := range r {
			VMOVNTDQ(r[i], at(f, dst, i))
		}
	}
}

func (k kernel) result(f frame, i int) reg.VecVirtual {
	x, y := YMM(), YMM()
	VMOVDQU(at(f, f.a, i), x)
	VMOVDQU(at(f, f.b, i), y)
	return k.apply(f.consts, x, y)
}

// at is the i-th vector of this turn in an array.
func at(f frame, array reg.Register, i int) Mem {
	return Mem{Base: array, Index: f.at, Scale: 1, Disp: i * vector}
}
