package lock

import (
	"context"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// await is the machine's Await: what ends it is told by the error of the condition.
func (l *Lock) await(word Word) uint64 {
	var c waiting.Condition = &l.grant
	if word == Latch {
		c = &l.entry
	}
	ctx := l.ctx
	if l.machine.purpose != Request {
		ctx = context.Background() // what a release or a withdrawal waits for takes a few steps
	}
	err := l.peers.Until(ctx, c)
	if err == nil {
		return Woken
	}
	if l.err == nil {
		l.err = err
	}
	if word == Latch && c.Err() != nil {
		return Lost
	}
	return Cancelled
}

// grant is the condition that this member's request was granted.
type grant struct{ lock *Lock }

func (g *grant) Ready() bool {
	l := g.lock
	return phaseOf(l.words.slots[l.me].Load()) == granted
}

// Err finds any member that failed: it may be the holder, or in front of this one in
// the queue, or the one for which somebody else waits here.
func (g *grant) Err() error {
	l := g.lock
	for m := range l.words.slots {
		if err := l.peers.Err(m); err != nil {
			return err
		}
	}
	return nil
}

// entry is the condition that it is worth trying to enter the latch: it is no longer
// marked as awaited. (It is not enough that it is held: without the mark its holder
// wakes nobody.) A request is also content with having been queued.
type entry struct{ lock *Lock }

func (e *entry) Ready() bool {
	l := e.lock
	if l.words.latch.Load()&awaited == 0 {
		return true
	}
	return l.machine.purpose == Request && phaseOf(l.words.slots[l.me].Load()) != announced
}

func (e *entry) Err() error {
	l := e.lock
	holder := latchHolder(l.words.latch.Load())
	if holder < 0 {
		return nil
	}
	return l.peers.Err(holder)
}
