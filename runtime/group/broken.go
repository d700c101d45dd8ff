package group

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/job"
)

// A BrokenError reports that a communicator or a window can no longer be used,
// because a collective operation on it failed or was cancelled at some rank.
type BrokenError struct {
	What  string // the communicator or window
	Rank  int    // in the world communicator: who gave up
	Op    string // in which operation
	Cause string
	// Failed is set when the cause was the failure of a rank.
	Failed *job.RankFailedError
}

// Unwrap makes errors.As find the failure of a rank that was the cause.
func (e *BrokenError) Unwrap() error {
	if e.Failed == nil {
		return nil
	}
	return e.Failed
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s is broken since rank %d gave up %s: %s", e.What, e.Rank, e.Op, e.Cause)
}

// A MismatchError reports that two members entered the same round with different
// signatures. What they mean is the caller's to say.
type MismatchError struct {
	Member       int
	Mine, Theirs uint32
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("member %d takes part in another operation (%#x, here %#x)", e.Member, e.Theirs, e.Mine)
}

// Break marks the group broken on every member and wakes them all. The first
// Break counts; later ones change nothing.
func (g *Group) Break(op string, cause error) {
	v := verdictOf(g.area)
	if !v.state.CompareAndSwap(intact, writing) {
		return
	}
	v.rank = int32(g.ranks[g.me])
	var failed *job.RankFailedError
	if errors.As(cause, &failed) {
		v.failed = int32(failed.Rank) + 1
	}
	put(v.op[:], op)
	put(v.cause[:], cause.Error())
	v.state.Store(broken)
	for _, rank := range g.ranks {
		g.mem.Ring(rank)
	}
}

// Broken returns a *BrokenError if the group is broken, nil otherwise.
//
// A member killed while it wrote the verdict leaves it unfinished; it is then
// among the failed ranks, so nobody waits for the rest of it.
func (g *Group) Broken() error {
	v := verdictOf(g.area)
	switch v.state.Load() {
	case intact:
		return nil
	case writing:
		return nil
	}
	e := &BrokenError{What: g.what, Rank: int(v.rank), Op: get(v.op[:]), Cause: get(v.cause[:])}
	if rank := int(v.failed) - 1; rank >= 0 {
		s, code := g.mem.State(rank)
		e.Failed = &job.RankFailedError{Rank: rank, Cause: job.Describe(s, code)}
	}
	return e
}

// put stores a text with its end marked by a zero byte, cut off where it is too
// long.
func put(dst []byte, s string) { clear(dst[copy(dst[:len(dst)-1], s):]) }

func get(src []byte) string {
	for i, b := range src {
		if b == 0 {
			return string(src[:i])
		}
	}
	return string(src)
}
