// Package cstack calls short C functions from Go on a stack of their own, without the
// way through the scheduler that cgo takes: a call costs a few instructions more than
// from C.
//
// # Why this is right
//
// The caller's goroutine is running, as seen by the scheduler, as long as the C function
// does: as during a raw system call or an assembly function. Nobody moves its stack,
// which would take that it stops, and its thread keeps the processor (P).
//
//   - Asynchronous preemption. Its signal finds a pc that is no Go function's, or that of
//     an assembly function; at neither a goroutine is stopped. It is asked again when it is
//     back in Go.
//   - Signals run on the thread's signal stack, as all of Go's handlers do (SA_ONSTACK), and
//     not on this one. The handler finds the goroutine in the thread's local storage, which
//     is the C library's in a program with cgo, so C has kept it as it was.
//   - SIGPROF. The traceback begins at a pc without a function, or in a function that
//     writes SP, and ends there: the sample counts as external code.
//   - The collector stops the world only when the call is over. Memory that the arguments
//     point to stays where it is: heap objects never move, and the stack of a goroutine
//     that runs does not.
//   - Registers. C keeps BX and BP, and what else it changes, an ABI0 function may: Go's
//     wrapper restores R14 (g) and X15 (0). AVX code of a C compiler ends with VZEROUPPER.
//   - The stack is the C ABI's: aligned to 16 bytes, and behind its end is a page without
//     access, so that a function that needs more ends the process by a signal.
//
// # What a function must keep to
//
// It does not wait, as Go does not know that it is away: a stop of the world, and with it
// everybody, waits for it. It is short: microseconds; a millisecond is tolerable. It does
// not call back into Go, for which C's way there would find no g0 stack to begin at. It
// keeps no pointer that it is given.
package cstack
