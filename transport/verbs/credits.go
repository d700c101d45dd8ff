//go:build cgo && linux

package verbs

import (
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/verbs/internal/credit"
)

// The receive queue's buffers, of 4 KiB each. Up to 64 peers have as many as they can
// use.
const (
	maxCredits    = 16   // of one peer
	leastCredits  = 2    // of one peer, however many there are
	sharedBuffers = 1024 // of all, unless leastCredits of each is more
)

// creditLimits shares out a receive queue that has so many entries at most.
func creditLimits(entries, ranks, budget int) (credit.Limits, error) {
	if entries < leastCredits*ranks {
		return credit.Limits{}, fmt.Errorf("its shared receive queue has %d entries, too few for %d ranks", entries, ranks)
	}
	l := credit.Limits{Least: leastCredits, Full: transport.MinCredit, Most: maxCredits, Budget: budget}
	if l.Greatest(ranks) > entries {
		l.Budget = entries - leastCredits*ranks
	}
	return l, nil
}

// credits is the ledger of the receive queue, for who takes completions, who polls, and
// who lets peers connect. What is granted is for giveCredit.
type credits struct {
	mu     sync.Mutex
	ledger credit.Ledger
}

// keep reports whether a message that has arrived stays in its buffer.
func (c *credits) keep(t *target) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ledger.Copies(&t.account) {
		return false
	}
	c.ledger.Arrived(&t.account, false)
	return true
}

// copied takes note of a message that was copied, and whose buffer was posted again.
func (c *credits) copied(t *target) (grant int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.Arrived(&t.account, true)
	return c.ledger.Grant(&t.account)
}

// taken takes note of a message that Poll has delivered. Its buffer was posted again,
// unless it had been copied.
func (c *credits) taken(t *target, copied bool) (grant int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.Taken(&t.account, copied)
	return c.ledger.Grant(&t.account)
}

// admit returns how many messages a new peer may send at once, or how many buffers are
// to be posted before it is asked again.
func (c *credits) admit(t *target, posted int) (credits, lacking int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.Posted(posted)
	if lacking = c.ledger.Lacking(); lacking > 0 {
		return 0, lacking
	}
	return c.ledger.Admit(&t.account), 0
}

func (c *credits) gone(t *target) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger.Gone(&t.account)
}
