package member

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// A Cluster is this host's membership.
type Cluster struct {
	o     Options
	began time.Time // the roster's zero
	list  *memberlist.Memberlist
	wire  *transport
	meta  atomic.Pointer[[]byte]
	notes *memberlist.TransmitLimitedQueue
	alive atomic.Int64 // members
	saved snapshot     // the main goroutine's

	ctx     context.Context // done when closed
	stop    context.CancelFunc
	running sync.WaitGroup

	ending   sync.Mutex // held by Leave and Close
	left     bool
	closed   bool
	changing sync.Mutex // held while what this member says or a key changes
	said     Meta       // what meta encodes; under changing
	ring     *memberlist.Keyring
	gossip   gossipKeys // under changing

	queueing sync.Mutex
	queue    []roster.Event
	wake     chan struct{} // of capacity 1

	mu       sync.Mutex
	roster   *roster.Roster
	watchers map[*watcher]bool
	problem  error
	inVain   string // why the last calls were
}

// How long who is gone is shown, and how many at most.
const (
	showGone = 24 * time.Hour
	maxGone  = 4096
)

// Start binds the port and begins to look for members. It waits for nobody. Errors
// are about the options, the addresses and the snapshot's directory.
func Start(o Options) (*Cluster, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Cluster{o: o, began: time.Now(), wake: make(chan struct{}, 1), watchers: make(map[*watcher]bool)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	if err := c.start(); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start() error {
	if err := c.o.check(); err != nil {
		return err
	}
	settings, err := c.o.Profile.settings()
	if err != nil {
		return err
	}
	if c.saved, err = readSnapshot(c.o.Snapshot); err != nil {
		c.o.Log.Warn("the members of before are forgotten", "error", err)
	}
	c.said = c.o.Meta
	c.said.life = max(uint64(time.Now().UnixNano()), c.saved.life+1)
	if err := c.setRing(c.o.Keys); err != nil {
		return err
	}
	if err := c.say(); err != nil {
		return err
	}
	if err := c.bind(settings); err != nil {
		return err
	}
	c.prepare(settings)
	if c.list, err = memberlist.Create(settings); err != nil {
		c.wire.Shutdown()
		return fmt.Errorf("gossip: %w", err)
	}
	c.saved.life = c.said.life
	c.take()
	c.running.Go(c.run)
	return nil
}

// bind makes the transport.
func (c *Cluster) bind(settings *memberlist.Config) error {
	bind, err := c.o.bindAddr()
	if err != nil {
		return err
	}
	advertise, err := c.o.advertiseAddr(bind)
	if err != nil {
		return err
	}
	if c.wire, err = newTransport(bind, c.o.Port, c.o.Keys, settings.TCPTimeout); err != nil {
		return err
	}
	c.wire.addr = netip.AddrPortFrom(advertise, c.wire.port())
	return nil
}

// prepare fills in what memberlist and the roster are to know.
func (c *Cluster) prepare(settings *memberlist.Config) {
	c.notes = &memberlist.TransmitLimitedQueue{
		NumNodes: func() int { return int(c.alive.Load()) }, RetransmitMult: settings.RetransmitMult,
	}
	d := delegate{c}
	settings.Name, settings.Transport, settings.Logger = c.o.Name, c.wire, newLogger(c.o.Log)
	settings.Delegate, settings.Events, settings.Conflict, settings.Merge, settings.Alive = d, d, d, d, d
	if len(c.o.Keys) > 0 {
		settings.Keyring = c.ring
	}
	calls := c.o.Profile.calls()
	calls.Self, calls.SelfAddr, calls.Seeds = c.o.Name, c.wire.addr.String(), c.o.Join
	calls.Remembered = c.saved.addrs()
	calls.Forget, calls.MaxGone, calls.Random = roster.Instant(showGone), maxGone, rand.IntN
	c.roster = roster.New(calls, 0)
}

// say encodes what this member says of itself.
func (c *Cluster) say() error {
	c.said.keys = c.gossip.names()
	b, err := c.said.encode()
	if err == nil {
		c.meta.Store(&b)
	}
	return err
}

// Update changes what this member says of itself. Everybody is told, so it is not for
// what changes often. Nothing is sent if m is what was said before.
func (c *Cluster) Update(m Meta) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	m.life, m.keys = c.said.life, c.said.keys
	if m == c.said {
		return nil
	}
	before := c.said
	c.said = m
	if err := c.say(); err != nil {
		c.said = before
		return err
	}
	c.spread()
	return nil
}

// spread has memberlist gossip what meta is. It is called with changing held. That
// nobody has heard of it within a time is no error: it is told on.
func (c *Cluster) spread() { c.list.UpdateNode(time.Nanosecond) }

// Leave tells everybody that this member leaves, and waits until some have heard it,
// at most for timeout. Close follows.
func (c *Cluster) Leave(timeout time.Duration) error {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.closed || c.left {
		return nil
	}
	c.left = true
	over := time.After(timeout)
	sent := make(chan struct{})
	c.changing.Lock()
	bye := roster.Goodbye{Name: c.o.Name, Life: c.said.life}
	c.changing.Unlock()
	c.notes.QueueBroadcast(note{encodeGoodbye(bye), sync.OnceFunc(func() { close(sent) })})
	if err := c.list.Leave(timeout); err != nil {
		return fmt.Errorf("leaving the cluster: nobody was told within %v", timeout)
	}
	if c.alive.Load() <= 1 {
		return nil
	}
	select {
	case <-sent:
	case <-over:
	}
	return nil
}

// Close ends the membership at once: without Leave, others take it for death.
func (c *Cluster) Close() error {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.mu.Lock()
	c.stop() // no watcher begins after this
	c.mu.Unlock()
	err := c.list.Shutdown()
	c.running.Wait()
	return err
}

// Problem says why nobody was found so far; nil: somebody was, or there was nobody to
// look for.
func (c *Cluster) Problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problem
}

// Traffic is how many bytes gossip has sent and received, packets and streams.
func (c *Cluster) Traffic() (sent, received uint64) {
	return c.wire.sent.Load(), c.wire.received.Load()
}
