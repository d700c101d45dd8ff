// Package litmus has no code, only tests: of what windows promise about order, shown by
// small programs that would see the promise broken.
//
//	shape    a litmus test as the literature writes it, "x=1; r0=y | y=1; r1=x"
//	model    pure: which outcomes of a shape a memory allows
//	memory   load, store, add, compare-and-swap by one kind of access to a window
//	trials   many runs of a shape by processes, and what came out
//	locks    locks built on a window, and what they guard
//	history  random operations, checked for linearisability
//
// A test states the kind of access and the model whose outcomes it allows. The ranks are
// processes under golaunch, on one host and on several that share no memory; this test
// binary is their program. They run with a goroutine that makes garbage and collects it all
// the time, with GOMAXPROCS 1, 2 and 4, and with coherent windows whose hosts may cache no more
// than a page, or whose pages are stored where they are touched first. Every check is shown
// to be able to fail.
//
// GOLAUNCH_SOAK=1 runs all combinations, for minutes; without it there are a few, for
// seconds.
package litmus
