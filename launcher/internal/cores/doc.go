// Package cores tells how many cores the ranks of this host may use together,
// and which logical CPUs make up each of them.
//
// Goroutine safety: everything may be called from any goroutine; the package has
// no state.
package cores
