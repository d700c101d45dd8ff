package world

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

// worldPort is the port of the world communicator's group, at every rank. Port 1 is
// the world's own, 2 that of messages, 4 that of confirmations.
const worldPort = 3

// A link carries the messages of one group to members on other hosts.
//
// # What arrives too early, or too late
//
// A port is opened before anybody learns its number. For the world communicator
// that is before the rank announces itself; nobody can connect before. For other
// groups it is before the round in which the numbers are exchanged, and the group
// is made behind that round: a message may come in between. It cannot be of a round:
// a member begins the group's first one only behind a further round of the parent
// (sigSplitReady, or that of the window), which every member enters with its group
// made. It can be that a member has broken the group, because it gave up in that
// further round: others may have seen it there, and will use the group. So the first
// early message is kept until the group is there; one break is enough.
//
// What comes after a port was closed is dropped: it is either a break of a group
// that this rank has given up, or a round of one that is broken here.
type link struct {
	process *process
	ranks   []int
	hosts   []int    // of each member
	me      int      // this rank's index in ranks
	ports   []uint32 // of each member; those of leaders are used
	port    *router.Port

	group     atomic.Pointer[group.Group]
	mu        sync.Mutex
	early     []byte // from rank earlyFrom, if group is nil
	earlyFrom int
}

var (
	_ group.Link = (*link)(nil)

	_ = [1]struct{}{}[group.LinkRoom-router.PrefixSize]
	_ = [1]struct{}{}[group.MaxLink-transport.MaxMessage]
)

// newLink returns the link of a group with these members, nil if all are on this
// host.
func newLink(p *process, ranks []int) *link {
	if !slices.ContainsFunc(ranks, func(rank int) bool { return !p.local(rank) }) {
		return nil
	}
	return &link{
		process: p, ranks: ranks, hosts: p.hostsOf(ranks),
		me: slices.Index(ranks, p.rank), ports: make([]uint32, len(ranks)),
	}
}

// leads reports whether this rank is its host's leader.
func (l *link) leads() bool { return slices.Index(l.hosts, l.hosts[l.me]) == l.me }

// deliver is the handler of the leader's port: one call at a time.
func (l *link) deliver(from int, msg []byte) {
	if l.group.Load() != nil || !l.keep(from, msg) {
		l.group.Load().Deliver(from, msg)
	}
}

// keep keeps the first early message. false: the group is there.
func (l *link) keep(from int, msg []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.group.Load() != nil {
		return false
	}
	if l.early == nil {
		l.early, l.earlyFrom = bytes.Clone(msg), from
	}
	return true
}

// connect says what group the link is of. It delivers what was early first: nothing
// else is delivered before group is set.
func (l *link) connect(g *group.Group) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early != nil {
		g.Deliver(l.earlyFrom, l.early)
		l.early = nil
	}
	l.group.Store(g)
}

// close ends delivery. The group's memory may be given away afterwards.
func (l *link) close() {
	if l != nil && l.port != nil {
		l.port.Close()
	}
}

func (l *link) Send(ctx context.Context, member int, buf []byte) error {
	return l.process.router.SendInPlace(ctx, l.ranks[member], l.ports[member], buf)
}

func (l *link) Post(member int, msg []byte) error {
	return l.process.router.Post(l.ranks[member], l.ports[member], msg)
}

func (l *link) Failure(member int) error { return l.process.router.Failure(l.ranks[member]) }

func (l *link) Gone(member int) bool { return l.process.router.Gone(l.ranks[member]) != nil }

// newGroup makes this rank's view of a group; l is nil if all members are on this
// host.
func (p *process) newGroup(what string, area []byte, me int, l *link, ranks []int) (*group.Group, error) {
	cfg := group.Config{What: what, Area: area, Me: me, Ranks: ranks, Memory: p.mem, Waiter: p.waiter}
	if l != nil {
		cfg.Hosts, cfg.Link = l.hosts, l
		if p.stats != nil {
			cfg.Until = (*counting)(p)
		}
	}
	g, err := group.New(cfg)
	if err == nil && l != nil {
		l.connect(g)
	}
	return g, err
}

// counting waits for other hosts and counts how long.
type counting process

func (p *counting) Until(ctx context.Context, c waiting.Condition) error {
	began := time.Now()
	err := p.waiter.Until(ctx, c)
	p.stats.Waited(routed(p.far.Usual()), time.Since(began))
	return err
}
