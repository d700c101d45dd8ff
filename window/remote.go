package window

import (
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/window/packet"
)

// A remote is a target on another host. Its elements are reached through the transport;
// what the transport does not have is asked of the target's service.
//
// Operations of this rank on one target take effect in the order in which they were
// called. The transport keeps its own in order, and delivers a request behind what was
// put before; but it does not wait for a request that is under way, so whoever uses the
// transport first waits for those.
type remote struct {
	target   int
	elements transport.Remote // where they are
	port     uint32           // of the target's service
	// cpuAtomics: the transport's atomics are the target's CPU's, which the owner and
	// its host use. Those of a NIC are not atomic with them.
	cpuAtomics bool

	puts  ledger // what the transport's Flush completes
	asked ledger // requests without an answer: what the service's Flush completes
}

// A ledger counts what was begun, and how much of that is known to be complete.
type ledger struct{ begun, complete atomic.Uint64 }

// note is called when something was begun.
func (l *ledger) note() { l.begun.Add(1) }

// open is how much is not known to be complete.
func (l *ledger) open() uint64 {
	begun := l.begun.Load()
	return begun - min(begun, l.complete.Load())
}

// settle notes that the first n are complete.
func (l *ledger) settle(n uint64) {
	for {
		known := l.complete.Load()
		if known >= n || l.complete.CompareAndSwap(known, n) {
			return
		}
	}
}

// reach returns the remote of a target if n elements at disp of it may be accessed, nil
// if the target is mapped or they may not.
func (c *core) reach(target, disp, n int) *remote {
	if !c.allows(target, disp, n) {
		return nil
	}
	return c.parts[target].remote
}

// allows reports whether n elements at disp of a target may be accessed: what the quick
// paths see by a part's limit.
func (c *core) allows(target, disp, n int) bool {
	return uint(target) < uint(len(c.parts)) && disp >= 0 && n <= c.Size(target)-disp && c.isOpen(target)
}

// maxAsked is how many requests without an answer may be under way to one target: as
// much has its service to keep when it cannot go on.
const maxAsked = 64

// complete waits until every operation on r that was begun before has taken effect.
func (c *core) complete(r *remote) error {
	var s settling
	if err := c.begin(r, &s); err != nil {
		return err
	}
	return c.finish(&s)
}

// completeAll is complete of every remote target that is wanted, of all at a time.
func (c *core) completeAll(wanted func(target int) bool) error {
	var first error
	var few [8]settling
	under := few[:0]
	for _, r := range c.remotes {
		if !wanted(r.target) {
			continue
		}
		var s settling
		if err := c.begin(r, &s); err != nil {
			first = firstOf(first, err)
		} else if s.remote != nil {
			under = append(under, s)
		}
	}
	for i := range under {
		first = firstOf(first, c.finish(&under[i]))
	}
	return first
}

func firstOf(first, err error) error {
	if first == nil {
		return err
	}
	return first
}

// A settling is a flush under way. Its remote is nil if there was nothing to wait for.
type settling struct {
	remote *remote
	call   *call // of the service; or
	op     *world.Op
	puts   uint64 // begun before it
}

// begin asks for what completes everything that was begun: the service, if requests are
// open, whose answer comes behind the Puts as well; else the transport.
func (c *core) begin(r *remote, s *settling) (err error) {
	switch {
	case r.asked.open() > 0:
		s.call, err = c.ask(r, packet.Packet{Kind: packet.Flush})
	case r.puts.open() > 0:
		s.puts = r.puts.begun.Load()
		s.op, err = c.flush(r)
	default:
		return nil
	}
	if err == nil {
		s.remote = r
	}
	return err
}

func (c *core) finish(s *settling) error {
	r := s.remote
	if r == nil {
		return nil
	}
	if s.call != nil {
		return c.await(s.call, nil)
	}
	if err := c.awaitOp(r.target, s.op); err != nil {
		return err
	}
	r.puts.settle(s.puts)
	return nil
}

// settleAsked waits for the requests that are under way.
func (c *core) settleAsked(r *remote) error {
	if r.asked.open() == 0 {
		return nil
	}
	return c.complete(r)
}
