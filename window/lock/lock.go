package lock

import (
	"context"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// Peers are the members of a lock as this one sees them. A *group.Group is one.
type Peers interface {
	// Until waits as this member does.
	Until(ctx context.Context, c waiting.Condition) error
	// Ring wakes a member that waits, after something was stored for it.
	Ring(member int)
	// Err returns why nothing can be expected of a member any more, nil otherwise.
	Err(member int) error
}

// A Lock is one member's view of a lock. Its zero value is not usable.
type Lock struct {
	state *atomic.Uint64 // first: the fast paths need nothing else
	owner uint64         // the state of this lock when this member holds it exclusively
	words words
	me    int
	peers Peers

	machine Machine
	ctx     context.Context // of the slow path under way
	err     error           // why it stopped waiting
	grant   grant
	entry   entry
}

// words are the lock's words in shared memory.
type words struct {
	state, latch, ticket *atomic.Uint64
	slots                []*atomic.Uint64
}

// Init makes l member me's view of the lock in block, which is zeroed when the first
// member begins to use it.
func (l *Lock) Init(block []byte, me, members int, peers Peers) error {
	if err := checkBlock(block, Size(members)); err != nil {
		return err
	}
	w := words{state: wordAt(block, stateAt), latch: wordAt(block, latchAt), ticket: wordAt(block, ticketWordAt)}
	for m := range members {
		w.slots = append(w.slots, wordAt(block, slotsAt+m*slotSize))
	}
	*l = Lock{state: w.state, owner: owner(me), words: w, me: me, peers: peers}
	l.grant.lock, l.entry.lock = l, l
	return nil
}

// InitElsewhere makes l stand for a lock whose block is not in this process's memory:
// TryAcquire, TryExclusive, TryRelease and ReleaseExclusive return false, and nothing else
// may be called.
func (l *Lock) InitElsewhere() {
	*l = Lock{state: new(atomic.Uint64)}
	l.state.Store(contended | exclusive)
}

// TryAcquire acquires the lock if that is possible at once and nobody waits for it.
func (l *Lock) TryAcquire(mode Mode) bool {
	if mode == Exclusive {
		return l.TryExclusive()
	}
	for {
		s := l.state.Load()
		if s&(contended|exclusive) != 0 {
			return false
		}
		if l.state.CompareAndSwap(s, s+1) {
			waiting.Synchronize()
			return true
		}
	}
}

// TryExclusive is TryAcquire(Exclusive), small enough to be inlined.
func (l *Lock) TryExclusive() bool {
	if !l.state.CompareAndSwap(0, l.owner) {
		return false
	}
	waiting.Synchronize()
	return true
}

// Acquire waits for the lock. The error is the cause of ctx's end, or why a member
// can no longer be expected to give the lock up; this member then neither holds the
// lock nor waits for it.
func (l *Lock) Acquire(ctx context.Context, mode Mode) error {
	if l.TryAcquire(mode) {
		return nil
	}
	return l.run(ctx, Request, mode)
}

// ReleaseExclusive releases an exclusive hold if nobody waits for the lock; if it
// returns false, Release must follow.
func (l *Lock) ReleaseExclusive() bool {
	waiting.Published()
	return l.state.CompareAndSwap(l.owner, 0)
}

// TryRelease is Release if nobody waits for the lock; if it returns false, Release must
// follow.
func (l *Lock) TryRelease(mode Mode) bool {
	if mode == Exclusive {
		return l.ReleaseExclusive()
	}
	waiting.Published()
	for {
		s := l.state.Load()
		if s&contended != 0 {
			return false
		}
		if l.state.CompareAndSwap(s, s-1) {
			return true
		}
	}
}

// Release gives up the lock, which this member holds in the given mode, and hands it
// to whoever comes next. On an error it is given up all the same as far as this
// member is concerned, but a failed member keeps it from being handed over.
func (l *Lock) Release(mode Mode) error {
	if l.TryRelease(mode) {
		return nil
	}
	return l.run(context.Background(), Release, mode)
}

// Idle reports that nobody holds the lock or waits for it.
func (l *Lock) Idle() bool { return l.state.Load() == 0 }

// run carries out a slow path.
func (l *Lock) run(ctx context.Context, purpose Purpose, mode Mode) error {
	l.ctx, l.err = ctx, nil
	m := &l.machine
	m.Start(l.me, len(l.words.slots), purpose, mode)
	for op := m.Next(); op.Do != Stop; op = m.Next() {
		crashPoint(m.at)
		m.Feed(l.do(op))
	}
	l.ctx = nil
	waiting.Synchronize()
	switch m.Outcome() {
	case Acquired, Released:
		return nil
	}
	return l.err
}

// do carries out one access of the machine.
func (l *Lock) do(op Op) uint64 {
	switch op.Do {
	case Ring:
		l.peers.Ring(op.Index)
		return 0
	case Await:
		return l.await(op.Word)
	}
	return access(l.words.word(op), op)
}

func (w *words) word(op Op) *atomic.Uint64 {
	switch op.Word {
	case State:
		return w.state
	case Latch:
		return w.latch
	case Ticket:
		return w.ticket
	}
	return w.slots[op.Index]
}

func access(word *atomic.Uint64, op Op) uint64 {
	switch op.Do {
	case Load:
		return word.Load()
	case Store:
		word.Store(op.A)
	case Add:
		return word.Add(op.A) - op.A
	case Or:
		return word.Or(op.A)
	case Swap:
		return word.Swap(op.A)
	case Compare:
		if word.CompareAndSwap(op.A, op.B) {
			return 1
		}
	}
	return 0
}
