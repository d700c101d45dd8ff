package waiting

import (
	"sync/atomic"
	"unsafe"
)

// wordIn is the first word of page-aligned memory that stays mapped.
func wordIn(mem []byte) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&mem[0])) }
