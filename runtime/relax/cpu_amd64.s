#include "textflag.h"

// func CPU()
TEXT ·CPU(SB), NOSPLIT, $0-0
	PAUSE
	RET

// func Yield()
TEXT ·Yield(SB), NOSPLIT, $0-0
	MOVL $24, AX // sched_yield
	SYSCALL      // overwrites AX, CX and R11, which are free here
	RET
