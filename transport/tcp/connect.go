package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// When both ranks of a pair dial at once, there are two connections for a moment,
// and the lower rank decides: it declines the other's dial while it dials itself or
// is connected. The higher one takes whatever comes unless it is connected. So
// both end with the same one, before a frame of any operation has been sent on it.
//
// After the handshake, who has accepted sends a Welcome or a Decline; until then
// the dialler sends nothing.

type linkState uint8

const (
	unlinked  linkState = iota
	dialling            // a goroutine of this endpoint dials
	declined            // the peer said that the connection it dialled is the one
	accepting           // a Welcome is being sent
	linked
	unlinkable // it was connected, and that has ended
)

// A link is how far the connection has been made. Guarded by endpoint.mu.
type link struct {
	state   linkState
	err     error         // of the last attempt
	changed chan struct{} // closed, and made anew, with every change
}

// set changes the state. Called with endpoint.mu held.
func (p *peer) set(state linkState, err error) {
	p.link.state, p.link.err = state, err
	close(p.link.changed)
	p.link.changed = make(chan struct{})
}

// connect returns when there is a connection, with an error when that failed or
// ctx has ended. The attempt itself outlives ctx: the peer may have accepted.
func (p *peer) connect(ctx context.Context, offer address.Offer) error {
	tried := false
	for {
		p.e.mu.Lock()
		state, err, changed := p.link.state, p.link.err, p.link.changed
		switch {
		case p.e.closed.Load():
			err = transport.ErrClosed
		case state == linked:
			p.e.mu.Unlock()
			return p.end()
		case state == unlinked && !tried:
			tried, err = true, nil
			p.set(dialling, nil)
			changed = p.link.changed
			p.e.running.Add(1)
			go p.attempt(offer)
		}
		p.e.mu.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.e.ctx.Done():
			return transport.ErrClosed
		}
	}
}

// attempt dials once, as a goroutine of its own.
func (p *peer) attempt(offer address.Offer) {
	defer p.e.running.Done()
	ctx, cancel := context.WithTimeout(p.e.ctx, p.e.timeout)
	defer cancel()
	conn, err := p.call(ctx, offer)
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	switch {
	case p.link.state != dialling: // the peer's connection came meanwhile
		if conn != nil {
			_ = conn.Close()
		}
	case errors.Is(err, errDeclined):
		p.set(declined, nil)
		time.AfterFunc(p.e.timeout, p.notAnswered)
	case err != nil:
		p.set(unlinked, err)
	default:
		p.use(conn)
	}
}

// call dials and hears whether the peer takes the connection.
func (p *peer) call(ctx context.Context, offer address.Offer) (net.Conn, error) {
	conn, err := handshake.Dial(ctx, address.Order(p.e.offer, offer), p.e.me, p.rank)
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if err := hearVerdict(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

var errDeclined = errors.New("declined: the other connection is used")

func hearVerdict(conn net.Conn) error {
	var b [wire.HeaderBytes]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return fmt.Errorf("waiting for a welcome: %w", err)
	}
	var h wire.Header
	if err := h.Decode(b[:]); err != nil {
		return err
	}
	switch {
	case h.Kind == wire.Welcome && h.Value != wire.Version:
		return fmt.Errorf("it speaks version %d of the wire format, this is version %d", h.Value, wire.Version)
	case h.Kind == wire.Welcome:
		return nil
	case h.Kind == wire.Decline && h.Value == wire.UseOther:
		return errDeclined
	case h.Kind == wire.Decline && h.Value == wire.AlreadyOver:
		return fmt.Errorf("there was a connection, which has ended: %w", transport.ErrPeerFailed)
	}
	return fmt.Errorf("a %v instead of a welcome", h.Kind)
}

// notAnswered ends waiting for a connection that the peer has promised.
func (p *peer) notAnswered() {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	if p.link.state == declined {
		p.set(unlinked, fmt.Errorf("it did not dial in %v, as it has promised: %w", p.e.timeout, transport.ErrPeerFailed))
	}
}

// accept is the goroutine that takes connections from peers.
func (e *endpoint) accept() {
	defer e.running.Done()
	for {
		conn, rank, err := e.listener.Accept()
		if err != nil {
			return
		}
		if rank < 0 || rank >= e.cfg.Size || rank == e.cfg.Rank {
			_ = conn.Close()
			continue
		}
		e.peerAt(rank).admit(conn)
	}
}

// admit uses a peer's connection, or declines it.
func (p *peer) admit(conn net.Conn) {
	e := p.e
	e.mu.Lock()
	defer e.mu.Unlock()
	verdict := wire.Header{Kind: wire.Welcome, Value: wire.Version}
	switch lower := e.cfg.Rank < p.rank; {
	case p.link.state == linked && p.end() != nil || p.link.state == unlinkable:
		verdict = wire.Header{Kind: wire.Decline, Value: wire.AlreadyOver}
	case p.link.state == linked || lower && p.link.state == dialling:
		verdict = wire.Header{Kind: wire.Decline, Value: wire.UseOther}
	}
	if err := sayVerdict(conn, &verdict); err != nil || verdict.Kind == wire.Decline {
		_ = conn.Close()
		return
	}
	p.use(conn)
}

// sayVerdict writes a few bytes to a connection that has been quiet: it does not
// wait.
func sayVerdict(conn net.Conn, h *wire.Header) error {
	var b [wire.HeaderBytes]byte
	h.Encode(b[:])
	if err := conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write(b[:]); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}

// use makes conn the connection. Called with endpoint.mu held.
func (p *peer) use(conn net.Conn) {
	if err := p.take(conn); err != nil {
		p.set(unlinked, err)
		return
	}
	p.set(linked, nil)
}

// take makes the connection's socket the endpoint's own: the standard library's
// poller does not know it, except with Encrypt. Called by a goroutine of the
// endpoint.
func (p *peer) take(conn net.Conn) error {
	p.tx.mu.Lock()
	defer p.tx.mu.Unlock()
	if p.e.closed.Load() {
		_ = conn.Close()
		return transport.ErrClosed
	}
	if secure, ok := conn.(*tls.Conn); ok {
		return p.takeEncrypted(secure)
	}
	fd, err := detach(conn)
	if err != nil {
		return err
	}
	if err := setOptions(fd, p.e.timeout); err != nil {
		_ = unix.Close(fd)
		return err
	}
	p.fd, p.near = fd, sameHost(fd)
	if err := p.e.watcher.add(p); err != nil {
		p.fd = -1
		_ = unix.Close(fd)
		return err
	}
	return nil
}
