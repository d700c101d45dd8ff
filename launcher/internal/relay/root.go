package relay

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// A Root is the front's end of a launch tree.
type Root struct {
	hub
	m      *tree.Root
	hosts  map[tree.ID]*Host
	joined chan *Host
	over   chan struct{}
	end    func() // closes over

	// These are guarded by mu.
	waiting  int              // calls of Host.Flush
	dead     map[tree.ID]bool // hosts that somebody else is sure are dead
	cut      int              // ticks since every host had a way to the root
	progress sync.Cond        // something may have been acknowledged
}

// Listen returns the root of a new tree, to which hosts attach at an address. timeout
// is the failure timeout: a host that there is no way to for so long is lost. refused,
// if it is not nil, is called for every connection that proves no key, one at a time.
func Listen(address string, key []byte, timeout time.Duration, refused func(from net.Addr, why error)) (*Root, error) {
	l, err := join.Listen(address, key, timeout)
	if err != nil {
		return nil, err
	}
	l.Refused = refused
	m := tree.NewRoot(tree.Instant(timeout), tree.Instant(timeout/2))
	r := &Root{m: m, hosts: map[tree.ID]*Host{}, dead: map[tree.ID]bool{}, joined: make(chan *Host), over: make(chan struct{})}
	r.end = sync.OnceFunc(func() { close(r.over) })
	r.progress.L = &r.mu
	r.hub = hub{listener: l, machine: m, links: map[tree.Link]*link{}, took: r.take, period: tickOf(timeout)}
	r.ackDelay = func() time.Duration { return ackDelay }
	r.running.Go(r.serve)
	r.running.Go(r.tick)
	return r, nil
}

// Addr is where it listens.
func (r *Root) Addr() net.Addr { return r.listener.Addr() }

// Accept waits for the next host that has attached for the first time.
// net.ErrClosed: the root is closed.
func (r *Root) Accept() (*Host, error) {
	select {
	case h := <-r.joined:
		return h, nil
	case <-r.over:
		return nil, net.ErrClosed
	}
}

// Full says that the job has its hosts: others are rejected from now on.
func (r *Root) Full() { r.do(r.m.Full) }

// SendAll sends data to every host, behind everything that was sent to it before.
// Data may be changed afterwards. It never waits.
func (r *Root) SendAll(data []byte) {
	data = append([]byte(nil), data...)
	r.do(func() { r.m.SendAll(data) })
}

// Flush waits until everything that was sent is written, where it can be.
func (r *Root) Flush() {
	for _, l := range r.current() {
		l.flush()
	}
}

// Close ends the tree. Hosts whose sessions are not closed take the root for dead.
func (r *Root) Close() {
	r.do(r.m.Acknowledge)
	var leaving sync.WaitGroup
	for _, l := range r.current() {
		leaving.Go(func() { l.leave(leaveWait) })
	}
	leaving.Wait()
	r.hub.close()
	r.end()
	r.running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.hosts {
		h.end(net.ErrClosed)
	}
}

// tick lets time pass. A process that was stopped for a while has lost none.
func (r *Root) tick() {
	ticker := time.NewTicker(r.period)
	defer ticker.Stop()
	for now := tree.Instant(0); ; now += tree.Instant(r.period) {
		select {
		case <-ticker.C:
		case <-r.over:
			return
		}
		r.do(func() { r.passed(now) })
		for _, l := range r.current() {
			l.beat(r.period, true)
		}
	}
}

// passed notes that a tick has passed. Hosts that count as dead, and are cut off, have
// half of the time of others to find another way: what says that they are dead may be
// old, and the end of nothing but their agent. mu is held.
func (r *Root) passed(now tree.Instant) {
	r.m.Tick(now)
	if r.cut++; !r.m.Apart() {
		r.cut = 0
	}
	if r.cut <= ticks/2 {
		return
	}
	for id := range r.dead {
		r.m.Dead(id)
	}
}

// take follows what the machine tells. mu is held.
func (r *Root) take() {
	if r.waiting > 0 {
		r.progress.Broadcast()
	}
	for _, e := range r.m.Events() {
		switch e.Kind {
		case tree.Joined:
			h := &Host{root: r, id: e.Host, where: e.Text}
			h.changed.L = &r.mu
			r.hosts[e.Host] = h
			r.running.Go(func() { r.offer(h) })
		case tree.Came:
			h := r.hosts[e.Host]
			h.in = append(h.in, e.Data...)
			h.changed.Broadcast()
		case tree.Lost:
			delete(r.dead, e.Host)
			r.hosts[e.Host].end(lostError{e.Text, e.Dead})
		}
	}
}

// offer hands a new host to Accept.
func (r *Root) offer(h *Host) {
	select {
	case r.joined <- h:
	case <-r.over:
	}
}

type lostError struct {
	why  string
	dead bool
}

func (e lostError) Error() string { return e.why }

// A Host is the root's end of the stream to one host. It is a control.PromptStream.
type Host struct {
	root  *Root
	id    tree.ID
	where string

	// These are guarded by root.mu.
	changed sync.Cond
	in      []byte // has come, and was not read
	err     error  // why nothing more comes
}

// Where is the address of the host, as the host that it attached to first sees it.
func (h *Host) Where() string { return h.where }

// Read reads what the host sends. io.EOF: its process has died.
func (h *Host) Read(b []byte) (int, error) {
	h.root.mu.Lock()
	defer h.root.mu.Unlock()
	for len(h.in) == 0 && h.err == nil {
		h.changed.Wait()
	}
	if len(h.in) == 0 {
		return 0, h.err
	}
	n := copy(b, h.in)
	if h.in = h.in[n:]; len(h.in) == 0 {
		h.in = nil
	}
	return n, nil
}

// Write sends data to the host. It never waits.
func (h *Host) Write(data []byte) (int, error) {
	kept := append([]byte(nil), data...)
	h.root.mu.Lock()
	defer h.root.mu.Unlock()
	if h.err != nil {
		return 0, h.err
	}
	h.root.m.Send(h.id, kept)
	h.root.carry()
	return len(data), nil
}

// Flush waits until the host has everything, or is lost.
func (h *Host) Flush() error {
	h.root.mu.Lock()
	defer h.root.mu.Unlock()
	h.root.waiting++
	defer func() { h.root.waiting-- }()
	for h.err == nil && h.root.m.Unacknowledged(h.id) > 0 {
		h.root.progress.Wait()
	}
	return h.err
}

// SetDead says whether somebody else is sure that the host is dead. If there is no way
// to it, nobody waits for one any longer; if there is, that alone ends nothing, but one
// that ends later is waited for half as long.
func (h *Host) SetDead(dead bool) {
	h.root.do(func() {
		if !dead || h.err != nil {
			delete(h.root.dead, h.id)
			return
		}
		h.root.dead[h.id] = true
		h.root.m.Dead(h.id)
	})
}

// Close ends the host's session: for the host, the job is over. What is still under
// way is lost.
func (h *Host) Close() error {
	h.root.mu.Lock()
	defer h.root.mu.Unlock()
	h.root.m.Close(h.id)
	h.root.carry()
	h.end(io.ErrClosedPipe)
	return nil
}

// end ends the stream; mu is held. The first reason counts.
func (h *Host) end(err error) {
	if h.err == nil {
		if lost, is := err.(lostError); is && lost.dead {
			err = io.EOF
		}
		h.err = err
	}
	h.changed.Broadcast()
	h.root.progress.Broadcast()
}
