package process

import "github.com/golaunch/golaunch/window/coherence"

// The hint of false sharing: the home of a page hears with a request which 64 bytes the
// access was for that made it. Where several hosts want a page again and again, and never
// the same bytes, they share nothing but the page.

const (
	blockBytes = 64
	// noBlock is said of what was fetched ahead.
	noBlock = 1<<8 - 1
	// noticeAfter is how often a page must have been taken from its home before the home
	// keeps count.
	noticeAfter = 2
	// hintAfter is how often it must have been asked for since, for a hint.
	hintAfter = 8
)

// sharing is what the home knows of a page that hosts take from each other.
type sharing struct {
	requests int
	blocks   map[uint8]uint64 // by host: what it wanted, a bit for each 64 bytes of the page's
}

// wanted notes what the next request for a page is for. For pages of this host there will
// be none to send; and as long as nobody knows whose it is, nobody shares it.
func (s *space) wanted(p coherence.Page, offset int) {
	block := uint8(offset / blockBytes)
	switch home, known := s.host.Home(p); {
	case !known:
	case home == s.spec.Self:
		s.asked(p, uint8(home), block)
	default:
		s.blocks[p] = block
	}
}

// block is what a request for a page that is sent now is for.
func (s *space) block(p coherence.Page) uint8 {
	block, known := s.blocks[p]
	if !known {
		return noBlock
	}
	delete(s.blocks, p)
	return block
}

// asked notes at the home that a host asks for a page.
func (s *space) asked(p coherence.Page, host, block uint8) {
	if block == noBlock || s.taken[p] < noticeAfter {
		return
	}
	sh := s.sharing[p]
	if sh == nil {
		sh = &sharing{blocks: map[uint8]uint64{}}
		s.sharing[p] = sh
	}
	sh.requests++
	sh.blocks[host] |= 1 << (block % 64)
}

// isFalse reports whether several hosts want the page, and none of them what another one
// wants.
func (sh *sharing) isFalse() bool {
	if sh == nil || sh.requests < hintAfter || len(sh.blocks) < 2 {
		return false
	}
	var all uint64
	for _, blocks := range sh.blocks {
		if all&blocks != 0 {
			return false
		}
		all |= blocks
	}
	return true
}

// isRequest tells which messages ask a page's home for it.
func isRequest(k coherence.Kind) bool {
	return k == coherence.Read || k == coherence.Write || k == coherence.Upgrade
}
