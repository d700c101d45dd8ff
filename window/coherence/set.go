package coherence

import "math/bits"

// MaxHosts is how many hosts can share a window: a directory entry has a bit for
// each of them, and one that says that the page is lost.
const MaxHosts = 63

// A hostSet is a set of hosts.
type hostSet uint64

// lost is what a directory entry holds when the page's content is gone.
const lost hostSet = 1 << MaxHosts

func setOf(host uint8) hostSet { return 1 << host }

func (s hostSet) has(host uint8) bool        { return s>>host&1 != 0 }
func (s hostSet) with(host uint8) hostSet    { return s | setOf(host) }
func (s hostSet) without(host uint8) hostSet { return s &^ setOf(host) }
func (s hostSet) isOnly(host uint8) bool     { return s == setOf(host) }
func (s hostSet) first() uint8               { return uint8(bits.TrailingZeros64(uint64(s))) }
func (s hostSet) count() int                 { return bits.OnesCount64(uint64(s)) }
func (s hostSet) each(visit func(h uint8)) {
	for ; s != 0; s &= s - 1 {
		visit(s.first())
	}
}
