//go:build amd64 || arm64

package relax

// CPU tells the core that this is a spin loop (PAUSE, YIELD). Every loop that looks
// for another core's store calls it between two looks: without it the core has
// looks under way that the store proves wrong, and starts again from the first,
// which takes longer than the cache line took to come over.
func CPU()

// Yield lets another process that is ready run on this core, and comes back at once when
// there is none. The Go scheduler is not told, as by unix.RawSyscall, which is four
// functions deep: ranks that take turns on a core call this once a turn, each time with
// caches that others have used.
func Yield()
