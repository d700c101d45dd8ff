#include "textflag.h"

// func settle(p unsafe.Pointer) (q unsafe.Pointer, onStack bool)
//
// The first words of a g are the bounds of its stack.
TEXT ·settle(SB), NOSPLIT, $0-17
	MOVD p+0(FP), R0
	MOVD R0, q+8(FP)
	MOVD 0(g), R1
	MOVD 8(g), R2
	SUB  R1, R2, R2
	SUB  R1, R0, R0
	CMP  R2, R0
	CSET LO, R0 // p - low < high - low
	MOVB R0, onStack+16(FP)
	RET
