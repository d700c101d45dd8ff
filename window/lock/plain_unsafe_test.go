package lock

import "unsafe"

// plain is right for memory that is aligned to 8 bytes and long enough.
func plain(mem []byte, i int) *uint64 { return (*uint64)(unsafe.Pointer(&mem[8*i])) }
