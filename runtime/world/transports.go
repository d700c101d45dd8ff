package world

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/shm"
	"github.com/golaunch/golaunch/transport/tcp"
	"github.com/golaunch/golaunch/transport/verbs"
)

// openEndpoints is the one place that names concrete transports: shared memory to
// the ranks of the same host, and RDMA devices and TCP to the others if there are any.
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
	if p.far, err = p.openFar(cfg); err != nil {
		return errors.Join(err, p.near.Close())
	}
	p.listen()
	return nil
}

// openFar opens what leads to other hosts.
func (p *process) openFar(cfg transport.Config) (f *far, err error) {
	f = &far{paths: make([]atomic.Int32, p.size), cut: make([]atomic.Bool, p.size)}
	switch p.setup.Transport {
	case "shm":
		return nil, fmt.Errorf("transport %q with %d hosts", p.setup.Transport, p.mem.Hosts())
	case "verbs":
		return f, p.addVerbs(f, cfg)
	}
	f.tcp, err = tcp.Provider{
		Secret: p.setup.secret, Job: p.setup.job, Version: boot.Version,
		Interface: p.setup.Interface, Loopback: p.setup.Loopback, Encrypt: p.setup.Encrypt, Timeout: p.setup.Timeout,
	}.Open(cfg)
	if err != nil {
		return nil, err
	}
	if p.setup.Transport != "tcp" && !p.setup.Encrypt && mayLock() {
		_ = p.addVerbs(f, cfg) // it is no error to have no device: Path says how peers are reached
	}
	p.addEnd(f, f.tcp, router.TCP)
	return f, nil
}

// addVerbs opens an RDMA device and registers the arena with it, for good: nothing has
// to be registered later when memory of it is given to peers.
func (p *process) addVerbs(f *far, cfg transport.Config) error {
	if p.setup.Encrypt {
		return errors.New("transport \"verbs\": RDMA has no encryption")
	}
	end, err := verbs.Provider{
		Secret: p.setup.secret, Job: p.setup.job, Version: boot.Version,
		Interface: p.setup.Interface, Loopback: p.setup.Loopback, Timeout: p.setup.Timeout,
	}.Open(cfg)
	if err != nil {
		return err
	}
	f.verbs = end
	if err := p.arena.Register(f); err != nil {
		f.verbs = nil
		return errors.Join(err, end.Close())
	}
	p.addEnd(f, end, router.Verbs)
	return nil
}

func (p *process) addEnd(f *far, e transport.Endpoint, path int) {
	p.router.Add(e, func(rank int) bool { return !p.local(rank) && f.serves(path, rank) })
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
	if p.far == nil || p.far.verbs == nil {
		return router.TCP
	}
	if known := p.far.paths[rank].Load(); known != 0 {
		return int(known)
	}
	_, addr, err := p.addressOf(p.ctx, rank)
	if err != nil { // it has never joined
		return p.far.usual()
	}
	path, _, err := p.far.choose(rank, addr)
	if err != nil {
		return p.far.usual()
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
