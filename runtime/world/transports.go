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
	"github.com/golaunch/golaunch/transport/shm"
	"github.com/golaunch/golaunch/transport/tcp"
)

// openEndpoints is the one place that names concrete transports: shared memory to
// the ranks of the same host, and TCP to the others if there are any.
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
	if p.setup.Transport == "shm" {
		return errors.Join(fmt.Errorf("transport %q with %d hosts", p.setup.Transport, p.mem.Hosts()), p.near.Close())
	}
	cfg.Progress = p.router.Progress
	if p.waiter.Spins() {
		cfg.Served = func() { p.mem.Ring(p.rank) } // who waits may as well serve peers
	}
	p.far, err = tcp.Provider{
		Secret: p.setup.secret, Job: p.setup.job, Version: boot.Version,
		Interface: p.setup.Interface, Loopback: p.setup.Loopback, Encrypt: p.setup.Encrypt, Timeout: p.setup.Timeout,
	}.Open(cfg)
	if err != nil {
		p.far = nil
		return errors.Join(err, p.near.Close())
	}
	p.router.Add(p.far, func(rank int) bool { return !p.local(rank) })
	p.listen()
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
	near, far, err := p.addressOf(ctx, rank)
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
	return p.far.Dial(ctx, rank, far)
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
	return router.TCP
}

// closeEndpoints ends what is under way on them.
func (p *process) closeEndpoints() error {
	err := p.near.Close()
	if p.far != nil {
		err = errors.Join(err, p.far.Close())
	}
	return err
}
