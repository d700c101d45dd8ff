package lock

import (
	"context"

	"github.com/golaunch/golaunch/runtime/waiting"
)

// Latches are a fixed number of short-term locks among the members, for critical
// sections of a bounded number of steps in which nothing waits: what a window holds
// over a range of elements while it changes them. They work as the latch of a Lock:
// a holder that dies is an error for whoever needs its latch.
//
// Unlike a Lock, Latches may be used by any number of goroutines of a member.
type Latches struct {
	block []byte
	me    int
	n     int
	peers Peers
}

// LatchCount is how many there are.
const LatchCount = 32

// LatchesSize is how many bytes of zeroed memory they need, aligned to 128 bytes.
const LatchesSize = LatchCount * slotSize

// InitLatches is Init for latches.
func InitLatches(block []byte, me, members int, peers Peers) (Latches, error) {
	if err := checkBlock(block, LatchesSize); err != nil {
		return Latches{}, err
	}
	return Latches{block: block, me: me, n: members, peers: peers}, nil
}

// TryEnter enters latch i, 0 <= i < LatchCount, if nobody is inside.
func (l *Latches) TryEnter(i int) bool {
	if !wordAt(l.block, i*slotSize).CompareAndSwap(0, latchedBy(l.me)) {
		return false
	}
	waiting.Synchronize()
	return true
}

// Enter enters latch i, 0 <= i < LatchCount.
func (l *Latches) Enter(i int) error {
	word := wordAt(l.block, i*slotSize)
	if word.CompareAndSwap(0, latchedBy(l.me)) {
		waiting.Synchronize()
		return nil
	}
	slow := Lock{words: words{latch: word}, me: l.me, peers: l.peers}
	slow.entry.lock = &slow
	return slow.run(context.Background(), hold, 0)
}

// Leave leaves latch i, which the caller has entered. It also rings its own member,
// another goroutine of which may wait.
func (l *Latches) Leave(i int) {
	waiting.Published()
	if wordAt(l.block, i*slotSize).Swap(0)&awaited == 0 {
		return
	}
	for m := range l.n {
		l.peers.Ring(m)
	}
}
