package rendezvous

// A State is the word of one rendezvous between ranks that share memory. Both sides
// replace it by compare-and-swap with what the methods return.
//
//	bits  0-15  next      pieces claimed, in order
//	bits 16-31  done      pieces that nobody touches any more
//	bits 32-39  flags
//	bits 40-63  generation of the word: it is used again, and a message that was
//	            withdrawn may still be on its way
//
// Invariants: done <= next <= total, where total is the number of pieces, which
// the receiver determines before it opens the word; next is 0 until Open; opened and
// released only together with matched.
type State uint64

const (
	doneShift       = 16
	generationShift = 40
	pieceMask       = 1<<16 - 1

	opened    State = 1 << 32 // pieces can be claimed
	withdrawn State = 1 << 33 // the sender gave up
	abandoned State = 1 << 34 // the receiver gave up
	broken    State = 1 << 35 // a copy failed
	released  State = 1 << 36 // the receiver will not look at the word again
	matched   State = 1 << 37 // a receive has matched: the receiver uses the word
	closed          = withdrawn | abandoned | broken
)

// MaxPieces is how many pieces a message may be cut into.
const MaxPieces = pieceMask

// Generations is how many values a generation has: they wrap.
const Generations = 1 << (64 - generationShift)

// Fresh is the word of a rendezvous that nobody has matched.
func Fresh(generation uint32) State { return State(generation) << generationShift }

// Generation is what Fresh was given.
func (s State) Generation() uint32 { return uint32(s >> generationShift) }

// Opened reports whether pieces can, or could, be claimed.
func (s State) Opened() bool { return s&opened != 0 }

// Match is the receiver's first step, when a receive has matched. Until Release the
// word and what lies beside it are the receiver's too. false: the sender has
// withdrawn the message; there is none, and the word may be another one's.
func (s State) Match(generation uint32) (State, bool) {
	if s.Generation() != generation || s&(matched|withdrawn) != 0 {
		return s, false
	}
	return s | matched, true
}

// Open is the receiver's second step, after it has said beside the word where its
// buffer is. false: the sender has withdrawn the message meanwhile.
func (s State) Open() (State, bool) {
	if s&withdrawn != 0 {
		return s, false
	}
	return s | opened, true
}

// Claim takes the next piece, to be copied by the caller. false: there is none, or
// it must not be copied any more.
func (s State) Claim(total int) (next State, piece int, ok bool) {
	if s&opened == 0 || s&closed != 0 || s.next() >= total {
		return s, 0, false
	}
	return s + 1, s.next(), true
}

// Finish says that a claimed piece is not touched any more: it was copied, or could
// not be.
func (s State) Finish(copied bool) State {
	s += 1 << doneShift
	if !copied {
		s |= broken
	}
	return s
}

// Withdraw is the sender giving up. It changes nothing that is over.
func (s State) Withdraw(total int) State {
	if s.Opened() && s.Outcome(total) != Pending {
		return s
	}
	return s | withdrawn
}

// Abandon is the receiver giving up. It changes nothing that is over.
func (s State) Abandon(total int) State {
	if s.Outcome(total) != Pending {
		return s
	}
	return s | abandoned
}

// Release is the receiver's last step.
func (s State) Release() State { return s | released }

// Released reports that the word belongs to the sender alone: it may be used
// again.
func (s State) Released() bool { return s&matched == 0 || s&released != 0 }

// An Outcome is what has become of a rendezvous. Once it is not Pending it stays,
// is the same for both sides, and neither buffer is touched by the other side any
// more.
type Outcome int

// The outcomes.
const (
	Pending   Outcome = iota
	Complete          // all of the message was copied
	Withdrawn         // the sender gave up
	Abandoned         // the receiver gave up
	Broken            // a copy failed
)

// Outcome tells how far a rendezvous of so many pieces is.
func (s State) Outcome(total int) Outcome {
	switch {
	case s.Opened() && s.done() == total && s&broken == 0:
		return Complete
	case s&closed == 0 || s.done() < s.next():
		return Pending
	case s&broken != 0:
		return Broken
	case s&withdrawn != 0:
		return Withdrawn
	}
	return Abandoned
}

func (s State) next() int { return int(s & pieceMask) }
func (s State) done() int { return int(s >> doneShift & pieceMask) }
