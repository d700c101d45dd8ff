package group

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/group/exchange"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// A Link carries messages to members on other hosts. It belongs to one member of
// one group; world makes it.
type Link interface {
	// Send sends a message to a member that leads its host: buf from LinkRoom on,
	// what is before is the Link's. It may wait, ctx bounds that. Messages arrive in
	// the order of the Sends.
	Send(ctx context.Context, member int, buf []byte) error
	// Post is Send of a whole msg that never waits. Nothing orders it with Sends.
	Post(member int, msg []byte) error
	// Failure returns a *job.RankFailedError if nothing more is to be expected of a
	// member, nil otherwise.
	Failure(member int) error
	// Gone reports that all a member has sent was delivered, and that nothing more
	// will come from it.
	Gone(member int) bool
}

const (
	// LinkRoom is how many bytes before each message of Send belong to the Link.
	LinkRoom = 8
	// MaxLink is the longest buffer of Send, LinkRoom included.
	MaxLink = 4096
)

// across is what a member of a group has when some members are on other hosts. The
// area is this host's; the slots of members elsewhere are written by the leader's
// process, as messages arrive. Package exchange says why that is right.
//
// A round is over on a host once its leader has sent the host's part and received
// all others. Both events are noted by whoever causes them, in the leader's
// process, before it looks for the other one; atomics are sequentially consistent,
// so one of them sees both, stores the round in the word done, and rings.
type across struct {
	*Group
	link   Link
	hosts  []int // host of each member
	locals []int // the members of this host
	leader int   // of this host
	others []int // leaders of the other hosts
	until  func(ctx context.Context, c waiting.Condition) error

	// The leader's only.
	hostOf   map[int]int // rank of each other leader -> its host
	state    *exchange.State
	begun    atomic.Uint64 // the last round that was sent, perhaps not to all yet
	sent     atomic.Uint64 // the last round that was sent to all
	received atomic.Uint64 // the last round that all members elsewhere have entered
	out      []byte
	gather   gathering

	outcome outcome
}

// newAcross is part of New: hosts are not all the same.
func newAcross(g *Group, cfg *Config) (*across, error) {
	if len(cfg.Hosts) != len(cfg.Ranks) || cfg.Link == nil {
		return nil, fmt.Errorf("%s: hosts of %d members, want %d, and a link", cfg.What, len(cfg.Hosts), len(cfg.Ranks))
	}
	a := &across{Group: g, link: cfg.Link, hosts: cfg.Hosts, hostOf: map[int]int{}}
	leaders := map[int]bool{}
	for member, host := range cfg.Hosts {
		if host == cfg.Hosts[cfg.Me] {
			a.locals = append(a.locals, member)
		} else if !leaders[host] {
			a.others = append(a.others, member)
			a.hostOf[cfg.Ranks[member]] = host
		}
		leaders[host] = true
	}
	a.leader = a.locals[0]
	if a.leads() {
		a.state = exchange.NewState(cfg.Hosts[cfg.Me], cfg.Hosts)
		a.out = make([]byte, MaxLink)
		a.gather.across = a
	}
	a.outcome.across = a
	if a.until = cfg.Until; a.until == nil {
		a.until = g.waiter.Until
	}
	return a, nil
}

func (a *across) leads() bool { return a.me == a.leader }

// waitAll is WaitAll.
func (a *across) waitAll(ctx context.Context) error {
	if a.leads() {
		a.gather.first = 0
		if err := a.waiter.Until(ctx, &a.gather); err != nil {
			return err
		}
		if err := a.tell(ctx); err != nil {
			return a.unlessBroken(err)
		}
	}
	if err := a.until(ctx, &a.outcome); err != nil {
		return err
	}
	return a.compare()
}

// tell sends what this host's members have published in the round.
func (a *across) tell(ctx context.Context) error {
	a.begun.Store(a.round)
	msg := a.begin()
	for _, member := range a.locals {
		s := &a.slots[a.round&1][member]
		payload, signature := s.payload(), uint32(s.head.Load())
		for next, full := msg.Add(member, signature, payload, 0); full; {
			if err := a.flush(ctx, msg); err != nil {
				return err
			}
			msg = a.begin()
			next, full = msg.Add(member, signature, payload, next)
		}
	}
	if err := a.flush(ctx, msg); err != nil {
		return err
	}
	a.sent.Store(a.round)
	a.settle(a.round)
	return nil
}

func (a *across) begin() exchange.Message { return exchange.Begin(a.out[LinkRoom:], a.round) }

func (a *across) flush(ctx context.Context, msg exchange.Message) error {
	buf := a.out[:LinkRoom+len(msg.Bytes())]
	for _, leader := range a.others {
		if err := a.link.Send(ctx, leader, buf); err != nil {
			return err
		}
	}
	return nil
}

// settle notes that a round is over, if it is, and rings. done never goes back.
func (a *across) settle(round uint64) {
	if a.sent.Load() < round || a.received.Load() < round {
		return
	}
	done := wordAt(a.area, doneAt)
	for {
		old := done.Load()
		if old >= round {
			return
		}
		if done.CompareAndSwap(old, round) {
			break
		}
	}
	a.ringLocals()
}

func (a *across) ringLocals() {
	for _, member := range a.locals {
		a.mem.Ring(a.ranks[member])
	}
}

// gathering is the condition that every member of this host has entered the
// round. The leader waits for it.
type gathering struct {
	*across
	first int // locals before this one have
}

func (c *gathering) Ready() bool {
	if c.counts && wordAt(c.area, arrivalsAt).Load() < c.round*uint64(len(c.locals)) {
		return false
	}
	slots := c.slots[c.round&1]
	for c.first < len(c.locals) {
		if !c.entered(slots[c.locals[c.first]]) {
			return false
		}
		c.first++
	}
	return true
}

func (c *gathering) Err() error { return c.across.err() }

// outcome is the condition that the round is over on this host.
type outcome struct{ *across }

func (c *outcome) Ready() bool { return wordAt(c.area, doneAt).Load() >= c.round }

func (c *outcome) Err() error { return c.across.err() }

// err is why the round can no longer be over.
func (a *across) err() error {
	for member, s := range a.slots[a.round&1] {
		if !a.entered(s) {
			if err := a.absence(member); err != nil {
				return a.unlessBroken(err)
			}
		}
	}
	if !a.leads() { // it leaves when the round is over for it, and for all
		if err := a.mem.Failure(a.ranks[a.leader]); err != nil {
			return a.unlessBroken(err)
		}
	} else if a.counts && a.begun.Load() < a.round {
		if err := a.uncounted(); err != nil {
			return a.unlessBroken(err)
		}
	}
	return a.Broken()
}

// absence is why a member that has not entered the round will not either.
//
// A rank elsewhere that has left may have taken part: the news of its leaving
// travels by another way than what its leader has sent before. If it did not take
// part, its own host's members notice, who see what it published. If it is the
// leader, the end of its connection says that nothing is on the way any more.
func (a *across) absence(member int) error {
	if a.hosts[member] == a.hosts[a.me] {
		return a.mem.Failure(a.ranks[member])
	}
	if s, _ := a.mem.State(a.ranks[member]); s > job.Left {
		return a.link.Failure(member)
	}
	for _, leader := range a.others {
		if a.hosts[leader] == a.hosts[member] && a.leads() && a.link.Gone(leader) {
			return a.link.Failure(leader)
		}
	}
	return nil
}

// uncounted is why a member of this host may have entered and will never be
// counted: it was killed in between.
func (a *across) uncounted() error {
	for _, member := range a.locals {
		if err := a.mem.Failure(a.ranks[member]); err != nil {
			return err
		}
	}
	return nil
}

// Deliver takes a message that another member's Link has sent to this one, the
// leader of its host. from is the sender's rank. It does not wait. One message at
// a time is delivered.
//
// What makes no sense breaks the group: the sender is not what it should be.
func (g *Group) Deliver(from int, msg []byte) {
	if err := g.far.deliver(from, msg); err != nil {
		g.Break("an exchange between hosts", fmt.Errorf("rank %d: %w", from, err))
	}
}

func (a *across) deliver(from int, msg []byte) error {
	if exchange.IsBreak(msg) {
		return a.brokenElsewhere(from, msg)
	}
	host, ok := a.hostOf[from]
	if !ok {
		return fmt.Errorf("it leads no host of %s", a.what)
	}
	if err := a.state.Accept(host, msg, a.begun.Load(), (*copyOfSlots)(a)); err != nil {
		return err
	}
	if round := a.state.Received(); round > a.received.Load() {
		a.received.Store(round)
		a.settle(round)
	}
	return nil
}

// copyOfSlots is this host's copy of the slots of members elsewhere.
type copyOfSlots across

func (c *copyOfSlots) Store(member int, round uint64, total, offset int, bytes []byte) {
	c.slots[round&1][member].putPart(total, offset, bytes)
}

func (c *copyOfSlots) Enter(member int, round uint64, signature uint32, length int) {
	s := &c.slots[round&1][member]
	*s.length = uint64(length)
	waiting.Published()
	s.head.Store(round<<32 | uint64(signature))
}

// spread tells the other hosts that a member of this one has broken the group. A
// break that came from elsewhere was told by who broke it.
func (a *across) spread() {
	member := int(min(brokenBy(a.area).Load(), uint64(len(a.ranks)))) - 1
	if member < 0 || a.hosts[member] != a.hosts[a.me] {
		return
	}
	v := reasonsOf(a.area, len(a.ranks), member)
	msg := exchange.Verdict{Member: member, Failed: int(v.failed) - 1, Op: get(v.op[:]), Cause: get(v.cause[:])}.Encode()
	for _, leader := range a.others {
		_ = a.link.Post(leader, msg) // who cannot be told has other worries
	}
}

// brokenElsewhere breaks the group here as a member of another host did there. Its
// reasons are written by this process only, one after the other, and not once the
// group is broken.
func (a *across) brokenElsewhere(from int, msg []byte) error {
	v, err := exchange.DecodeVerdict(msg)
	if err != nil {
		return err
	}
	sender := slices.Index(a.ranks, from)
	switch {
	case sender < 0 || a.hosts[sender] == a.hosts[a.me]:
		return fmt.Errorf("it is no member of %s on another host", a.what)
	case v.Member >= len(a.hosts) || a.hosts[v.Member] != a.hosts[sender]:
		return fmt.Errorf("it speaks for member %d of another host", v.Member)
	case a.IsBroken():
		return nil
	}
	r := reasonsOf(a.area, len(a.ranks), v.Member)
	r.failed = int32(v.Failed) + 1
	put(r.op[:], v.Op)
	put(r.cause[:], v.Cause)
	if brokenBy(a.area).CompareAndSwap(0, uint64(1+v.Member)) {
		a.ringLocals()
	}
	return nil
}
