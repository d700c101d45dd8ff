//go:build race

package wire

// Copy copies as much as fits, on behalf of a peer.
//
// What the peers' programs do to one piece of memory at once is theirs to order.
// Most of it the race detector does not see, because the network does it; it shall
// see none of it. (It looks into the built-in copy whatever the directive says.)
//
//go:norace
func Copy(dst, src []byte) {
	for i, b := range src[:min(len(dst), len(src))] {
		dst[i] = b
	}
}
