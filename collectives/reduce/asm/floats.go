package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// precision holds the instructions of one floating-point type.
type precision struct {
	name                        string
	nan                         uint64
	add, mul, min, max, and, or func(ops ...Op)
	compare                     func(ops ...Op)
	blend                       func(mask, ifSet, ifClear, dst Op)
}

func floats() (all []kernel) {
	for _, p := range []precision{
		{"Float32", nan32, VADDPS, VMULPS, VMINPS, VMAXPS, VANDPS, VORPS, VCMPPS, VBLENDVPS},
		{"Float64", nan64, VADDPD, VMULPD, VMINPD, VMAXPD, VANDPD, VORPD, VCMPPD, VBLENDVPD},
	} {
		nan := []uint64{p.nan}
		all = append(all,
			kernel{"avx2Sum" + p.name, nan, p.arithmetic(p.add)},
			kernel{"avx2Prod" + p.name, nan, p.arithmetic(p.mul)},
			kernel{"avx2Min" + p.name, nan, p.extreme(p.min, p.or)},
			kernel{"avx2Max" + p.name, nan, p.extreme(p.max, p.and)})
	}
	return all
}

// unordered is the predicate of VCMPP that is true where either operand is NaN, and raises nothing.
const unordered = 3

// arithmetic replaces NaN by the canonical one in the result.
func (p precision) arithmetic(op func(ops ...Op)) func([]reg.VecVirtual, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
		isNaN := YMM()
		op(y, x, x)
		p.compare(U8(unordered), x, x, isNaN)
		p.blend(isNaN, c[0], x, x)
		return x
	}
}

// extreme does MINP or MAXP both ways around. They differ only where an operand is NaN, which is replaced, and for
// two zeros, where the instruction returns its second operand: "or" keeps the sign of -0 for Min, "and" drops it for
// Max.
func (p precision) extreme(op, join func(ops ...Op)) func([]reg.VecVirtual, reg.VecVirtual, reg.VecVirtual) reg.VecVirtual {
	return func(c []reg.VecVirtual, x, y reg.VecVirtual) reg.VecVirtual {
		isNaN, other := YMM(), YMM()
		p.compare(U8(unordered), x, y, isNaN)
		op(y, x, other)
		op(x, y, x)
		join(other, x, x)
		p.blend(isNaN, c[0], x, x)
		return x
	}
}
