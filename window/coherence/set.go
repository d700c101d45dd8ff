package coherence

import "math/bits"

// MaxHosts is how many hosts can share a window: a directory entry has a bit for
// each of them, and one that says that the page is lost.
const MaxHosts = 63

// A Set is a set of hosts.
type Set uint64

// lost is what a directory entry holds when the page's content is gone.
const lost Set = 1 << MaxHosts

func setOf(host uint8) Set           { return 1 << host }
func (s Set) has(host uint8) bool    { return s>>host&1 != 0 }
func (s Set) with(host uint8) Set    { return s | setOf(host) }
func (s Set) without(host uint8) Set { return s &^ setOf(host) }
func (s Set) isOnly(host uint8) bool { return s == setOf(host) }
func (s Set) first() uint8           { return uint8(bits.TrailingZeros64(uint64(s))) }
func (s Set) count() int             { return bits.OnesCount64(uint64(s)) }
func (s Set) each(visit func(h uint8)) {
	for ; s != 0; s &= s - 1 {
		visit(s.first())
	}
}
