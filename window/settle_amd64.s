#include "textflag.h"

// func settle(p unsafe.Pointer) (q unsafe.Pointer, onStack bool)
//
// The first words of a g are the bounds of its stack.
TEXT ·settle(SB), NOSPLIT, $0-17
	MOVQ p+0(FP), AX
	MOVQ AX, q+8(FP)
	MOVQ (TLS), CX
	MOVQ 8(CX), DX
	SUBQ 0(CX), DX
	SUBQ 0(CX), AX
	CMPQ AX, DX
	SETCS onStack+16(FP) // p - low < high - low
	RET
