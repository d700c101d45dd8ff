package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/far"
	"github.com/golaunch/golaunch/transport/shm"
)

// openEndpoints opens shared memory to the ranks of the same host, and what leads to those
// of others if there are any.
func (p *process) openEndpoints() (err error) {
	cfg := transport.Config{
		Rank: p.rank, Size: p.size,
		Segment: p.segments.of,
		Scratch: p.scratch,
		Ring:    p.mem.Ring,
		Wait:    p.wait,
	}
	if p.near, err = (shm.Provider{}).Open(cfg); err != nil {
		return err
	}
	p.router.Add(p.near, p.local)
	if p.mem.Hosts() == 1 {
		return nil
	}
	cfg.Progress = p.router.Progress
	if p.waiter.Spins() {
		cfg.Served = func() { p.mem.Ring(p.rank) } // who waits may as well serve peers
	}
	if err = p.openFar(cfg); err != nil {
		return errors.Join(err, p.near.Close())
	}
	p.listen()
	return nil
}

// openFar opens what leads to other hosts. With a device the arena is registered, for good:
// nothing has to be registered later when memory of it is given to peers.
func (p *process) openFar(cfg transport.Config) (err error) {
	s := &p.setup
	if s.Transport == "shm" {
		return fmt.Errorf("transport %q with %d hosts", s.Transport, p.mem.Hosts())
	}
	p.far, err = far.Open(far.Options{
		Transport: s.Transport, Secret: s.secret, Job: s.job, Version: boot.Version,
		Interface: s.Interface, Loopback: s.Loopback, Encrypt: s.Encrypt, Timeout: s.Timeout,
	}, cfg, func(f *far.Far) error { return p.arena.Register(f) })
	if err != nil {
		p.far = nil
		return err
	}
	for path, end := range p.far.Ends() {
		p.router.Add(end, func(rank int) bool { return !p.local(rank) && p.far.Path(rank) == path })
	}
	return nil
}

// farPoll is how long a rank with a core of its own polls before it lets a thread be
// woken for what comes from other hosts: long beside the 50 us that costs.
const farPoll = 10 * time.Millisecond

// listen has goroutines of this rank that wait poll for messages. It costs nothing
// after the first time.
func (p *process) listen() {
	if !p.listening.Load() && p.listening.CompareAndSwap(false, true) {
		limit := waiting.PollTime
		if p.far != nil {
			limit = farPoll
		}
		p.waiter.SetPoll(limit, p.router)
	}
}

// dial is the router's.
func (p *process) dial(ctx context.Context, rank int) (transport.Conn, error) {
	near, away, err := p.addressOf(ctx, rank)
	if err != nil {
		return nil, err
	}
	if p.local(rank) {
		p.listen()
		return p.near.Dial(ctx, rank, near)
	}
	if p.far == nil {
		return nil, fmt.Errorf("this rank has no way to other hosts")
	}
	return p.far.Dial(ctx, rank, away)
}

// dialNIC connects to a rank of this host, which may be this one, through its device.
func (p *process) dialNIC(ctx context.Context, rank int) (transport.Conn, error) {
	_, addr, err := p.addressOf(ctx, rank)
	if err != nil {
		return nil, err
	}
	return p.far.Dial(ctx, rank, addr)
}

// local reports whether a rank shares memory with this one.
func (p *process) local(rank int) bool { return p.mem.Local(rank) }

// path is how this rank reaches another one.
func (p *process) path(rank int) int {
	switch {
	case rank == p.rank:
		return router.Self
	case p.local(rank):
		return router.Shm
	}
	return p.farPath(rank)
}

// farPath is path for a rank of another host. Which it is, that rank's address says.
func (p *process) farPath(rank int) int {
	if p.far == nil {
		return router.TCP
	}
	path := p.far.Path(rank)
	if path == far.Unknown {
		path = p.chosen(rank)
	}
	return routed(path)
}

// routed is what the router calls a path to another host.
func routed(path far.Path) int {
	if path == far.Verbs {
		return router.Verbs
	}
	return router.TCP
}

// chosen is the path to a rank whose address is still to be seen.
func (p *process) chosen(rank int) far.Path {
	usual := p.far.Usual()
	if usual == far.TCP {
		return usual
	}
	_, addr, err := p.addressOf(p.ctx, rank)
	if err != nil { // it has never joined
		return usual
	}
	path, err := p.far.Choose(rank, addr)
	if err != nil {
		return usual
	}
	return path
}

// closeEndpoints ends what is under way on them.
func (p *process) closeEndpoints() error {
	err := p.near.Close()
	if p.far != nil {
		err = errors.Join(err, p.far.Close())
	}
	return err
}
