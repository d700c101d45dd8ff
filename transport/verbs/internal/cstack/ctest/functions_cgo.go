//go:build cgo && linux

package ctest

/*
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int cstack_add(int *a, int *b, uintptr_t c) { return *a + *b + (int)c; }

// spin stays away for so many steps, in C and in the kernel.
int cstack_spin(uint64_t *sum, void *unused, uintptr_t steps) {
	for (uintptr_t i = 0; i < steps; i++) {
		*(volatile uint64_t *)sum += i;
		if (i % 64 == 0)
			syscall(SYS_getppid);
	}
	return (int)steps;
}

// deep uses so many bytes of stack, and returns how its frame is aligned.
int cstack_deep(void *to, void *unused, uintptr_t bytes) {
	char frame[bytes];
	_Alignas(16) char aligned[16];
	uintptr_t at = (uintptr_t)aligned;
	__asm__ volatile("" : "+r"(at) : : "memory"); // or the compiler would know the answer
	memset(frame, 1, bytes);
	memcpy(to, frame + bytes - 8, 8);
	return (int)(at % 16);
}

// keep changes every register that it need not keep.
int cstack_keep(void *a, void *b, uintptr_t c) {
	__asm__ volatile("pcmpeqd %%xmm15, %%xmm15\n\tmovq $-1, %%r14\n\t" : : : "xmm15", "r14", "rcx", "r8", "r9", "r10", "r11", "memory");
	return 7;
}
*/
import "C"

import "unsafe"

// The functions, as cstack takes them.
func Add() unsafe.Pointer  { return unsafe.Pointer(C.cstack_add) }
func Spin() unsafe.Pointer { return unsafe.Pointer(C.cstack_spin) }
func Deep() unsafe.Pointer { return unsafe.Pointer(C.cstack_deep) }
func Keep() unsafe.Pointer { return unsafe.Pointer(C.cstack_keep) }

// Cgo calls add the usual way.
func Cgo(a, b *int32, c uintptr) int32 {
	return int32(C.cstack_add((*C.int)(unsafe.Pointer(a)), (*C.int)(unsafe.Pointer(b)), C.uintptr_t(c)))
}
