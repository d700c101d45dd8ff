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
//
// A member writes its reasons into a place of its own and then names itself in
// one step: there is no moment at which a death could leave a verdict half told.
func (g *Group) Break(op string, cause error) {
	g.breaking.Do(func() { g.explain(op, cause) })
	if brokenBy(g.area).CompareAndSwap(0, uint64(1+g.me)) {
		for _, rank := range g.ranks {
			g.mem.Ring(rank)
		}
	}
	if g.far != nil {
		g.far.spread()
	}
}

func (g *Group) explain(op string, cause error) {
	v := reasonsOf(g.area, len(g.ranks), g.me)
	text := cause.Error()
	var failed *job.RankFailedError
	if errors.As(cause, &failed) {
		v.failed, text = int32(failed.Rank)+1, failed.Cause
	}
	put(v.op[:], op)
	put(v.cause[:], text)
}

// IsBroken reports whether Broken would return an error. It costs a load.
func (g *Group) IsBroken() bool { return brokenBy(g.area).Load() != 0 }

// Broken returns a *BrokenError if the group is broken, nil otherwise.
func (g *Group) Broken() error {
	by := brokenBy(g.area).Load()
	if by == 0 {
		return nil
	}
	member := min(by, uint64(len(g.ranks))) - 1 // it comes from shared memory
	v := reasonsOf(g.area, len(g.ranks), int(member))
	e := &BrokenError{What: g.what, Rank: g.ranks[member], Op: get(v.op[:]), Cause: get(v.cause[:])}
	if rank := int(v.failed) - 1; rank >= 0 && rank < g.mem.Size() {
		// The break may be known here before the failure itself.
		e.Failed = g.mem.FailureBy(rank, e.Cause)
		e.Cause = e.Failed.Error()
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
