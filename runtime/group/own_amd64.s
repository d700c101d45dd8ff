#include "textflag.h"

// func own(head *atomic.Uint64)
//
// The assembler has no name for PREFETCHW (AX). It changes nothing that a program
// can see, and does nothing for an address that is not mapped.
TEXT ·own(SB), NOSPLIT, $0-8
	MOVQ head+0(FP), AX
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08
	RET
