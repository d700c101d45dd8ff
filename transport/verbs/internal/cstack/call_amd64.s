//go:build cgo && linux

#include "textflag.h"

// See doc.go for why this is right. BX is C's to keep, so it remembers the goroutine's
// stack. This function has no frame: arguments and result are found from SP.

// func call(function, top, a, b unsafe.Pointer, c uintptr) int32
TEXT ·call(SB), NOSPLIT, $0-44
	MOVQ function+0(FP), AX
	MOVQ top+8(FP), CX
	MOVQ a+16(FP), DI
	MOVQ b+24(FP), SI
	MOVQ c+32(FP), DX
	MOVQ SP, BX
	MOVQ CX, SP
	CALL AX
	MOVQ BX, SP
	MOVL AX, ret+40(FP)
	RET
