//go:build cgo && linux

package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
)

// A connection is arranged over TCP and belongs to who has dialled: two ranks that
// both dial have two, which know nothing of each other. The TCP connection stays as
// long as the other one, and says goodbye for it; when it breaks, the peer has died.

// errDevice: this rank's own device has failed, and with it every peer for this rank.
var errDevice = fmt.Errorf("this rank's device failed: %w", transport.ErrPeerFailed)

// A dial is how far the connection to a rank has been made.
type dial struct {
	turn   chan struct{} // of capacity 1: holds something while somebody dials
	origin *origin       // guarded by turn
}

const (
	ready   = 'r'
	goodbye = 'g'
)

// Dial connects to a rank, itself included, unless that was done before.
func (e *endpoint) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	o, err := e.dial(ctx, rank, addr)
	if err != nil {
		return nil, fmt.Errorf("verbs: rank %d: dial: %w", rank, err)
	}
	return &conn{o: o}, nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr []byte) (*origin, error) {
	if !e.hold() {
		return nil, transport.ErrClosed
	}
	defer e.running.Done()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= e.cfg.Size {
		return nil, fmt.Errorf("there are ranks 0 to %d", e.cfg.Size-1)
	}
	offer, err := address.DecodeEndpoint(rank, addr)
	if err != nil {
		return nil, err
	}
	d := e.dialOf(rank)
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if d.origin == nil {
		d.origin, err = e.connect(ctx, rank, offer)
	}
	return d.origin, err
}

func (e *endpoint) dialOf(rank int) *dial {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := &e.dials[rank]
	if d.turn == nil {
		d.turn = make(chan struct{}, 1)
	}
	return d
}

// connect makes the connection to a rank.
func (e *endpoint) connect(ctx context.Context, rank int, offer address.Offer) (*origin, error) {
	ctx, cancel := context.WithTimeout(ctx, e.me.Timeout)
	defer cancel()
	defer context.AfterFunc(e.ctx, cancel)()
	side, err := e.call(ctx, rank, offer)
	if err != nil {
		return nil, err
	}
	var settled atomic.Bool // the connection is, or ctx has ended: whichever was first
	defer context.AfterFunc(ctx, func() {
		if settled.CompareAndSwap(false, true) {
			_ = side.SetDeadline(time.Unix(1, 0))
		}
	})()
	o, err := e.arrange(rank, side)
	if err == nil && !settled.CompareAndSwap(false, true) {
		err = context.Cause(ctx)
		o.end(err)
	}
	if err != nil {
		err = errors.Join(err, side.Close())
		if e.closed.Load() {
			err = transport.ErrClosed
		}
		return nil, err
	}
	return o, nil
}

// call reaches a rank over TCP, or this rank itself over a pipe.
func (e *endpoint) call(ctx context.Context, rank int, offer address.Offer) (net.Conn, error) {
	if rank != e.cfg.Rank {
		return handshake.Dial(ctx, address.Order(e.offer, offer), e.me, rank)
	}
	here, there := net.Pipe()
	if !e.begin(func() { e.serve(there, rank) }) {
		return nil, transport.ErrClosed
	}
	return here, nil
}

// begin starts a goroutine of the endpoint, unless that is closed.
func (e *endpoint) begin(run func()) bool {
	if !e.hold() {
		return false
	}
	go func() {
		defer e.running.Done()
		run()
	}()
	return true
}

// hold keeps Close from taking down the device until running.Done, unless the endpoint
// is closed.
func (e *endpoint) hold() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return false
	}
	e.running.Add(1)
	return true
}

// arrange agrees with the peer on a connection from this rank.
func (e *endpoint) arrange(rank int, side net.Conn) (*origin, error) {
	o, err := newOrigin(e, rank)
	if err != nil {
		return nil, err
	}
	o.side = side
	own := e.greeting(o.pair, o.page, 0)
	if o.peer, err = exchange(side, own); err == nil && o.peer.credits == 0 {
		err = errors.New("it takes no message")
	}
	if err == nil {
		err = o.open(own)
	}
	if err == nil {
		err = tellAndHear(side, ready)
	}
	if err == nil {
		err = side.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(err, o.abandon())
	}
	if !e.begin(func() { o.end(hearEnd(side)); e.tell() }) {
		return nil, errors.Join(transport.ErrClosed, o.abandon())
	}
	return o, nil
}

// greeting is what this end is, with the memory that the peer needs to know, and how many
// messages it may send.
func (e *endpoint) greeting(pair *queuePair, m *memory, credits int) greeting {
	d := e.device
	return greeting{
		pair: pair.number, sequence: rand.Uint32N(1 << 24), lid: uint16(d.port.lid), ethernet: d.place.ethernet, global: d.port.global != 0, mtu: uint8(d.port.active_mtu),
		reads: uint8(min(maxReads, int(d.limits.max_reads))), credits: uint16(credits),
		address: m.address(), rkey: m.rkey, gid: d.place.gid,
	}
}

// exchange says what this end is and hears what the other is. A pipe has no buffer, so
// who dials speaks first.
func exchange(side net.Conn, own greeting) (greeting, error) {
	if _, err := side.Write(own.encode()); err != nil {
		return greeting{}, err
	}
	return hear(side)
}

func hear(side net.Conn) (greeting, error) {
	var b [greetingBytes]byte
	if _, err := io.ReadFull(side, b[:]); err != nil {
		return greeting{}, fmt.Errorf("waiting for its queue pair: %w", err)
	}
	return decodeGreeting(b[:])
}

func tellAndHear(side net.Conn, word byte) error {
	if _, err := side.Write([]byte{word}); err != nil {
		return err
	}
	return hearWord(side, word)
}

func hearWord(side net.Conn, word byte) error {
	var b [1]byte
	if _, err := io.ReadFull(side, b[:]); err != nil {
		return fmt.Errorf("waiting until it is ready: %w", err)
	}
	if b[0] != word {
		return fmt.Errorf("it said %q instead of %q", b[0], word)
	}
	return nil
}

// open enters the connection in the table and makes it ready. What the peer sends may
// come from then on.
func (o *origin) open(own greeting) error {
	o.credit = int(o.peer.credits)
	t := &o.e.table
	o.e.harvesting.Lock()
	o.number = len(t.origins)
	t.origins = append(t.origins, o)
	o.e.harvesting.Unlock()
	if o.number >= maxConnections {
		return errors.New("too many connections")
	}
	for range creditRequests {
		if err := o.pair.receive(newWorkID(ofCredit, o.number, 0)); err != nil {
			return err
		}
	}
	return o.pair.connect(own, o.peer)
}

// abandon takes down a connection that did not come about. It stays in the table.
func (o *origin) abandon() error {
	o.e.harvesting.Lock()
	defer o.e.harvesting.Unlock()
	return o.close()
}

// hearEnd waits for the end of the connection over which another one was arranged.
func hearEnd(side net.Conn) error {
	var b [1]byte
	if n, _ := side.Read(b[:]); n == 1 && b[0] == goodbye {
		return transport.ErrClosed
	}
	return fmt.Errorf("it ended without a goodbye: %w", transport.ErrPeerFailed)
}

// sayGoodbye waits for nobody: a byte fits into any socket that was quiet so far.
func sayGoodbye(side net.Conn) {
	_ = side.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = side.Write([]byte{goodbye})
	_ = side.Close()
}

func (o *origin) owns(pair uint32) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pair != nil && o.pair.number == pair
}
