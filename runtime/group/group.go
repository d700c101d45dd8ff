package group

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// A Group is one member's view of a group.
type Group struct {
	what     string // for errors: `communicator "world"`, `window "halo"`
	me       int
	ranks    []int // member -> rank of the job
	mem      *job.Memory
	waiter   *waiting.Waiter
	area     []byte
	slots    [2][]slot // by parity, then member
	own      [2]slot   // by parity: this member's
	round    uint64
	head     uint64 // of the round: what every member's head should be
	bells    []int  // ranks to ring for a round: those that may wait for this member
	quorum   uint64 // how many members are counted
	counts   bool   // arrivals are counted: ranks share cores
	far      *across
	missing  round
	room     []byte // Room's; nil before the first use
	breaking sync.Once
}

// Config is what New needs to know.
type Config struct {
	What   string // the communicator or window, for errors
	Area   []byte // Size(len(Ranks)) bytes, zeroed when the group was made, 128-byte aligned
	Me     int    // index of this member in Ranks
	Ranks  []int  // the members, as ranks of the job
	Memory *job.Memory
	Waiter *waiting.Waiter
	// Hosts is the host of each member, and Link reaches those on other hosts; nil:
	// all share Area. Otherwise each host has an Area of its own, and Deliver is called
	// at the first member of each host.
	Hosts []int
	Link  Link
	// Until, if not nil, waits for other hosts instead of Waiter.Until, which it calls.
	Until Until
}

// An Until waits for a condition, as a *waiting.Waiter does.
type Until interface {
	Until(ctx context.Context, c waiting.Condition) error
}

// New returns this member's view of the group in cfg.Area. Every member calls it
// with the same area and ranks.
func New(cfg Config) (*Group, error) {
	n := len(cfg.Ranks)
	if len(cfg.Area) < Size(n) || !aligned(cfg.Area) {
		return nil, fmt.Errorf("%s: %d bytes of shared memory, want %d, aligned to %d", cfg.What, len(cfg.Area), Size(n), lineSize)
	}
	g := &Group{
		what: cfg.What, me: cfg.Me, ranks: cfg.Ranks, mem: cfg.Memory, waiter: cfg.Waiter,
		area: cfg.Area, counts: !cfg.Waiter.Spins(), quorum: uint64(n),
	}
	for parity := range g.slots {
		g.slots[parity] = make([]slot, n)
		for member := range n {
			g.slots[parity][member] = slotOf(cfg.Area, n, member, parity)
		}
	}
	for parity := range g.own {
		g.own[parity] = g.slots[parity][cfg.Me]
	}
	g.missing.group = g
	return g, g.connect(&cfg)
}

// connect decides who is rung and counted.
func (g *Group) connect(cfg *Config) (err error) {
	waits := func(member int) bool { return member != g.me }
	if cfg.Hosts != nil {
		if g.far, err = newAcross(g, cfg); err != nil {
			return err
		}
		g.quorum = uint64(len(g.far.locals))
		waits = func(member int) bool { return member == g.far.leader && member != g.me }
	}
	for member, rank := range g.ranks {
		if waits(member) {
			g.bells = append(g.bells, rank)
		}
	}
	return nil
}

// Size is the number of members.
func (g *Group) Size() int { return len(g.ranks) }

// Me is this member's index.
func (g *Group) Me() int { return g.me }

// Rank translates a member's index to its rank in the job.
func (g *Group) Rank(member int) int { return g.ranks[member] }

// Publish enters the next round with a signature of the operation and a payload
// of at most MaxPayload bytes, which may be reused when it returns. It does not
// wait.
func (g *Group) Publish(signature uint32, payload []byte) {
	g.round++
	g.head = g.round<<32 | uint64(signature)
	s := &g.own[g.round&1]
	s.put(payload)
	waiting.Published()
	s.head.Store(g.head)
	if g.counts {
		g.arrive()
	} else {
		g.ringWaiting()
	}
	if len(payload) <= lineRoom { // else it would stand in line behind many
		own(g.own[(g.round+1)&1].head) // the peers have read it, and have a copy
	}
}

// Room is MaxPayload bytes of this member's own in which a caller may put together
// what it publishes next.
func (g *Group) Room() []byte {
	if g.room == nil {
		g.room = make([]byte, MaxPayload)
	}
	return g.room
}

// arrive counts this member. The last one wakes the others.
func (g *Group) arrive() {
	if wordAt(g.area, arrivalsAt).Add(1) == g.round*g.quorum {
		g.ringWaiting()
	}
}

func (g *Group) ringWaiting() {
	for _, rank := range g.bells {
		g.mem.Ring(rank)
	}
}

// Payload is what a member published in the current round. It is valid after
// WaitAll and until this member's next Publish.
func (g *Group) Payload(member int) []byte { return g.slots[g.round&1][member].payload() }

// firstLooks is how often WaitAll looks at a head before it asks the waiter for
// help: about as long as a cache line takes to come over.
const firstLooks = 64

// WaitAll returns nil when every member has published in the current round with
// the same signature. Otherwise the error is a *MismatchError, a
// *job.RankFailedError, a *BrokenError or the cause of ctx's end, and the group
// should be broken by the caller.
//
// When arrivals are counted the count decides, not the heads: a member that went
// on as soon as it saw the last head could be counted in the next round before
// that last member was counted in this one, and nobody would wake the others.
func (g *Group) WaitAll(ctx context.Context) error {
	if g.far != nil {
		return g.far.waitAll(ctx)
	}
	if g.counts || !g.seeAll() {
		return g.waitSlowly(ctx)
	}
	waiting.Synchronize()
	return nil
}

// seeAll looks for every member's head, for about as long as cache lines take to
// come over.
func (g *Group) seeAll() bool {
	slots := g.slots[g.round&1]
	for member := range slots {
		if member == g.me { // its line is on its way to the peers
			continue
		}
		head := slots[member].head
		for looks := 0; head.Load() != g.head; looks++ {
			if looks == firstLooks {
				return false
			}
			relax.CPU()
		}
	}
	return true
}

func (g *Group) waitSlowly(ctx context.Context) error {
	g.missing.first = 0
	if err := g.waiter.Until(ctx, &g.missing); err != nil {
		return err
	}
	return g.compare()
}

// compare looks for a member that believes in another operation.
func (g *Group) compare() error {
	for member, s := range g.slots[g.round&1] {
		if head := s.head.Load(); head != g.head {
			return &MismatchError{Member: member, Mine: uint32(g.head), Theirs: uint32(head)}
		}
	}
	return nil
}

// round is the condition that everybody has entered the current round.
type round struct {
	group *Group
	first int // members before this one have
}

func (c *round) Ready() bool {
	g := c.group
	slots := g.slots[g.round&1]
	if g.counts && wordAt(g.area, arrivalsAt).Load() < g.round*g.quorum {
		return false
	}
	for c.first < len(slots) {
		if !g.entered(slots[c.first]) {
			return false
		}
		c.first++
	}
	return true
}

// entered compares 32 bits: a slot cannot be 2^32 rounds old.
func (g *Group) entered(s slot) bool { return uint32(s.head.Load()>>32) == uint32(g.round) }

func (c *round) Err() error {
	g := c.group
	entered := 0
	for member, s := range g.slots[g.round&1] {
		if g.entered(s) {
			entered++
		} else if err := g.mem.Failure(g.ranks[member]); err != nil {
			return g.unlessBroken(err)
		}
	}
	if entered == len(g.ranks) { // somebody is not counted yet, or was killed before that
		for _, rank := range g.ranks {
			if err := g.mem.Failure(rank); err != nil {
				return g.unlessBroken(err)
			}
		}
	}
	return g.Broken()
}

// unlessBroken names the break instead of what followed from it: a member may
// break the group and leave because of that. It breaks it first, so Broken is
// asked last.
func (g *Group) unlessBroken(err error) error {
	if broken := g.Broken(); broken != nil {
		return broken
	}
	return err
}

// Err returns why nothing can be expected of member any more: it failed, or the
// group is broken. Conditions of waits on one member use it.
func (g *Group) Err(member int) error {
	if g.far != nil {
		return g.unlessBroken(g.far.link.Failure(member))
	}
	return g.unlessBroken(g.mem.Failure(g.ranks[member]))
}

// Notice is a member's word: zero until its owner stores something there for the
// others to find. Whoever stores rings those who may wait for it.
func (g *Group) Notice(member int) *atomic.Uint64 { return wordAt(g.area, noticesAt+8*member) }

// Until waits for c with this rank's waiter.
func (g *Group) Until(ctx context.Context, c waiting.Condition) error { return g.waiter.Until(ctx, c) }

// Ring wakes a member after something was stored for it.
func (g *Group) Ring(member int) { g.mem.Ring(g.ranks[member]) }
