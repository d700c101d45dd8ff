package process

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/far"
	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/line"
)

// greet takes what the first rank says of the job, and opens the endpoints. It returns
// the address by which other hosts' pagers reach this one.
func (g *pager) greet(hello *line.Greeting) (address []byte, err error) {
	if g.greeting == nil {
		if err := g.open(hello); err != nil {
			return nil, err
		}
		g.greeting = hello
		g.links = make([]*link, hello.Hosts)
	}
	if hello.Host != g.greeting.Host || hello.Job != g.greeting.Job {
		return nil, fmt.Errorf("host %d of job %q, and this is the pager of host %d of job %q", hello.Host, hello.Job, g.greeting.Host, g.greeting.Job)
	}
	if g.far == nil {
		return nil, nil
	}
	return g.far.Addr(far.MaxAddress), nil
}

// open opens what leads to other hosts, as their ranks have it. A pager is the "rank" of its
// host's number there, in a job of its own.
func (g *pager) open(hello *line.Greeting) error {
	if hello.Hosts < 2 {
		return nil
	}
	f, err := far.Open(far.Options{
		Transport: hello.Transport, Secret: hello.Secret, Job: hello.Job + "/pagers", Version: boot.Version,
		Interface: hello.Interface, Loopback: hello.Loopback, Encrypt: hello.Encrypt, Timeout: hello.Timeout,
	}, transport.Config{
		Rank: hello.Host, Size: hello.Hosts,
		Ring: g.ring, Wait: g.wait, Progress: g.progress, Watches: true,
	}, nil)
	if err != nil {
		return err
	}
	g.far = f
	for _, end := range f.Ends() {
		g.ends = append(g.ends, end)
		if w, ok := end.(transport.Waker); ok {
			g.wakes = append(g.wakes, unix.PollFd{Fd: int32(w.Descriptor()), Events: unix.POLLIN})
			err = errors.Join(err, g.add(w.Descriptor()))
		}
	}
	return err
}

// wakesFor reports whether a descriptor is an endpoint's.
func (g *pager) wakesFor(fd int) bool {
	return slices.ContainsFunc(g.wakes, func(w unix.PollFd) bool { return int(w.Fd) == fd })
}

// ring is the endpoints': one has left something for Poll. Whoever has mu looks before it lets
// go of it; where nobody has, progress is called as well.
func (g *pager) ring(int) { g.wanted.Store(true) }

// wait is for a Put or a Send that has no room, or that asks the peer's device where the slots
// are. mu is held: there is one at a time, and
// what the last Poll has delivered was dealt with. What the next one finds it leaves for
// later.
func (g *pager) wait(ctx context.Context, _ int, ready func() bool) error {
	for !ready() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		_, _ = unix.Poll(g.wakes, waitMilliseconds)
		for _, end := range g.ends {
			if _, err := end.Poll(nil); err != nil {
				return err
			}
		}
		g.rest()
	}
	g.wanted.Store(true)
	return nil
}

// waitMilliseconds is after how long wait looks again, whatever has happened.
const waitMilliseconds = 10

// progress is called by goroutines of the endpoint, which must not wait: whoever has mu
// looks again before it rests.
func (g *pager) progress() {
	g.wanted.Store(true)
	g.serve()
}

// serve polls the endpoints as long as anybody wants that.
func (g *pager) serve() {
	for g.wanted.Load() && g.mu.TryLock() {
		g.wanted.Store(false)
		for g.pollOnce() {
		}
		g.rest()
		g.settle()
		g.mu.Unlock()
	}
}

// rest has the endpoints' descriptors tell of what arrives from now on.
func (g *pager) rest() {
	for _, end := range g.ends {
		if r, ok := end.(transport.Rester); ok {
			r.Rest()
		}
	}
}

func (g *pager) pollOnce() (more bool) {
	for _, end := range g.ends {
		more = g.pollEnd(end) || more
	}
	return more
}

func (g *pager) pollEnd(end transport.Endpoint) (more bool) {
	n, err := end.Poll(g.poll[:])
	if err != nil {
		g.note(err)
		return false
	}
	for i := range n {
		if c := &g.poll[i]; c.Op == 0 {
			if err := g.take(c); err != nil {
				g.note(fmt.Errorf("from the pager of host %d: %w", c.Rank, err))
			}
		}
	}
	return n > 0
}

// take deals with what has come from a peer, which may have opened a window before this
// host has.
func (g *pager) take(c *transport.Completion) error {
	l, err := g.linkTo(c.Rank)
	switch {
	case err != nil:
		return err
	case c.Message == nil:
		l.check(c.Err)
		return nil
	}
	err = l.arrived(c.Message)
	l.check(err)
	return err
}

// linkTo finds the link to a host, or makes it.
func (g *pager) linkTo(host int) (*link, error) {
	if g.links[host] == nil {
		l := &link{g: g, host: host}
		if err := l.open(); err != nil {
			return nil, err
		}
		g.links[host] = l
	}
	return g.links[host], nil
}

// reach connects to the pagers of the other hosts of a window.
func (g *pager) reach(spec line.Spec) error {
	for i, host := range spec.Hosts {
		if i == spec.Self {
			continue
		}
		if host < 0 || host >= len(g.links) || i >= len(spec.Addresses) {
			return fmt.Errorf("host %d of %d", host, len(g.links))
		}
		l, err := g.linkTo(host)
		if err != nil {
			return err
		}
		if !l.dialled {
			if _, err := g.far.Choose(host, spec.Addresses[i]); err != nil {
				return fmt.Errorf("host %d: %w", host, err)
			}
			l.dialled = true
			go g.dial(l, spec.Addresses[i])
		}
	}
	return nil
}

func (g *pager) dial(l *link, address []byte) {
	conn, err := g.far.Dial(context.Background(), l.host, address)
	g.mu.Lock()
	if err != nil {
		l.check(err)
		g.note(fmt.Errorf("connecting to the pager of host %d: %w", l.host, err))
	} else {
		l.connected(conn)
	}
	g.settle()
	g.unlock()
}

// leaseTime is T of the leases: a peer that is silent for so long counts as unreachable.
func (g *pager) leaseTime() coherence.Ticks {
	if g.greeting.Timeout > 0 {
		return coherence.Ticks(g.greeting.Timeout)
	}
	return coherence.Ticks(far.DefaultTimeout)
}
