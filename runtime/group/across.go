package group

import (
	"context"
	"fmt"
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
// A round is over on a host once its leader has sent the host's part, and what it
// passes on for others, and received all others. Both events are noted by whoever
// causes them, in the leader's process, before it looks for the other one; atomics
// are sequentially consistent, so one of them sees both, stores the round in the
// word done, and rings.
type across struct {
	*Group
	link   Link
	hosts  []int // host of each member
	locals []int // the members of this host
	leader int   // of this host
	near   []int // leaders of the hosts that this one sends to or hears from
	until  Until

	// The leader's only.
	sends    []send
	sources  []source
	state    *exchange.State
	begun    atomic.Uint64 // the last round that was sent, perhaps not to all yet
	sent     atomic.Uint64 // the last round that was sent to all
	received atomic.Uint64 // the last round that all members elsewhere have entered
	out      []byte
	gather   gathering
	hearing  hearing

	outcome outcome
}

// newAcross is part of New: hosts are not all the same.
func newAcross(g *Group, cfg *Config) (*across, error) {
	if len(cfg.Hosts) != len(cfg.Ranks) || cfg.Link == nil {
		return nil, fmt.Errorf("%s: hosts of %d members, want %d, and a link", cfg.What, len(cfg.Hosts), len(cfg.Ranks))
	}
	a := &across{Group: g, link: cfg.Link, hosts: cfg.Hosts}
	a.outcome.across, a.gather.across, a.hearing.across = a, a, a
	if a.until = cfg.Until; a.until == nil {
		a.until = g.waiter
	}
	a.takePlaces()
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
	if err := a.until.Until(ctx, &a.outcome); err != nil {
		return err
	}
	return a.compare()
}

// tell sends what this host's members have published in the round, and then what it
// hears from others for others.
func (a *across) tell(ctx context.Context) error {
	a.begun.Store(a.round)
	for i := range a.sends {
		if err := a.hear(ctx, a.sends[i].after); err != nil {
			return err
		}
		to := &a.sends[i]
		rest, err := a.compose(ctx, to)
		if err != nil {
			return err
		}
		for _, leader := range to.leaders {
			if err := a.link.Send(ctx, leader, rest); err != nil {
				return err
			}
		}
	}
	a.sent.Store(a.round)
	a.settle(a.round)
	return nil
}

// hear waits until the first n sources have told the round.
func (a *across) hear(ctx context.Context, n int) error {
	a.hearing.first, a.hearing.n = 0, n
	if a.hearing.Ready() {
		return nil
	}
	return a.until.Until(ctx, &a.hearing)
}

// compose writes what is to be told, sends as much as takes several messages, and
// returns the last one. Mostly that is the only one, and tell sends it itself: a
// function that is under way during a system call takes 7 ns to return from.
func (a *across) compose(ctx context.Context, to *send) (last []byte, err error) {
	msg := a.begin()
	for _, member := range to.members {
		s := &a.slots[a.round&1][member]
		payload, signature := s.payload(), uint32(s.head.Load())
		for next, full := msg.Add(member, signature, payload, 0); full; {
			if err := a.flush(ctx, to, msg); err != nil {
				return nil, err
			}
			msg = a.begin()
			next, full = msg.Add(member, signature, payload, next)
		}
	}
	return a.out[:LinkRoom+len(msg.Bytes())], nil
}

func (a *across) begin() exchange.Message { return exchange.Begin(a.out[LinkRoom:], a.round) }

func (a *across) flush(ctx context.Context, to *send, msg exchange.Message) error {
	buf := a.out[:LinkRoom+len(msg.Bytes())]
	for _, leader := range to.leaders {
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

// hearing is the condition that the first n sources have told the round.
type hearing struct {
	*across
	n, first int // sources before first have
}

func (c *hearing) Ready() bool {
	for ; c.first < c.n; c.first++ {
		if c.sources[c.first].told.Load() < c.round {
			return false
		}
	}
	return true
}

func (c *hearing) Err() error { return c.across.err() }

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
	if err := a.hindrance(); err != nil {
		return a.unlessBroken(err)
	}
	return a.Broken()
}

// hindrance is why the round cannot be over though all may have entered it.
func (a *across) hindrance() error {
	if !a.leads() { // it leaves when the round is over for it, and for all
		return a.mem.Failure(a.ranks[a.leader])
	}
	if a.counts && a.begun.Load() < a.round {
		if err := a.uncounted(); err != nil {
			return err
		}
	}
	return a.silence()
}

// silence is why a source will not tell the round.
//
// One that has left may have told it: the news of its leaving travels by another way
// than what it has sent before. The end of its connection says that nothing is on
// the way any more. One that left without telling is noticed by those who hear from
// it, and they tell the others (break). Hosts in a circle hear from the next one, so
// those between two that are gone have one among them who notices.
func (a *across) silence() error {
	for i := range a.sources {
		s := &a.sources[i]
		if s.told.Load() >= a.round || !a.failed(s.leader) && !a.link.Gone(s.leader) {
			continue
		}
		if err := a.link.Failure(s.leader); err != nil {
			return err
		}
	}
	return nil
}

// failed reports whether a member is known to have failed: it has not left in good
// order.
func (a *across) failed(member int) bool {
	s, _ := a.mem.State(a.ranks[member])
	return s > job.Left
}

// absence is why a member that has not entered the round will not either. If one
// elsewhere has left and did not take part, its own host's members notice, who see
// what it published.
func (a *across) absence(member int) error {
	if a.hosts[member] == a.hosts[a.me] {
		return a.mem.Failure(a.ranks[member])
	}
	if a.failed(member) {
		return a.link.Failure(member)
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
	i := 0
	for i < len(a.sources) && a.sources[i].rank != from {
		i++
	}
	if i == len(a.sources) {
		return fmt.Errorf("it leads no host of %s that tells this one", a.what)
	}
	if err := a.state.Accept(i, msg, a.begun.Load(), (*copyOfSlots)(a)); err != nil {
		return err
	}
	if round := a.state.Told(i); round > a.sources[i].told.Load() {
		a.told(i, round)
	}
	return nil
}

// told notes that a source has told a round.
func (a *across) told(i int, round uint64) {
	a.sources[i].told.Store(round)
	if a.sources[i].awaited {
		a.mem.Ring(a.ranks[a.me])
	}
	if all := a.state.Received(); all > a.received.Load() {
		a.received.Store(all)
		a.settle(all)
	}
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
