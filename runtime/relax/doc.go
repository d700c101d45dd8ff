// Package relax has what sync/atomic lacks for memory that cores pass to and fro: the
// instruction that belongs into spin loops, the system call that leaves the core to who else
// wants it, and a store that waits for nobody.
package relax
