package handshake

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// A listener in a flood of strangers may drop a rank before it has read its first
// frame. Such a connection is tried again, after pauses that double.
const (
	firstWait = 2 * time.Millisecond
	lastWait  = 32 * time.Millisecond
)

// A caller tries single addresses for one Dial.
type caller struct {
	me     Identity
	key    []byte
	secure *tls.Config // nil: no encryption
	peer   int
}

func newCaller(me Identity, peer int) (*caller, error) {
	key, err := me.derive("handshake")
	if err != nil {
		return nil, err
	}
	config, err := secureConfig(me)
	return &caller{me: me, key: key, secure: config, peer: peer}, err
}

// call connects to an address and finds out who is there. It takes no longer
// than the timeout, and ends soon after ctx has ended.
func (c *caller) call(ctx context.Context, to netip.AddrPort) (proved, error) {
	ctx, cancel := context.WithTimeout(ctx, c.me.timeout())
	defer cancel()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		p, err := c.once(ctx, to)
		if !isDropped(err) || !pause(ctx, wait) {
			return p, because(err)
		}
	}
}

func (c *caller) once(ctx context.Context, to netip.AddrPort) (proved, error) {
	tcp, err := connect(ctx, to)
	if err != nil {
		return proved{}, err
	}
	p, err := c.meet(ctx, tcp)
	if err != nil {
		tcp.Close()
	}
	return p, err
}

// connect opens a connection without keepalive and multipath TCP; see bindTo.
func connect(ctx context.Context, to netip.AddrPort) (*net.TCPConn, error) {
	dialer := net.Dialer{KeepAlive: -1, Control: unpaced}
	dialer.SetMultipathTCP(false)
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// meet finds out who is at the other end, until ctx ends. The connection keeps
// ctx's deadline.
func (c *caller) meet(ctx context.Context, tcp *net.TCPConn) (proved, error) {
	if at, is := ctx.Deadline(); is {
		if err := tcp.SetDeadline(at); err != nil {
			return proved{}, err
		}
	}
	// A deadline in the past ends what is being read or written.
	stop := context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(time.Unix(1, 0)) })
	p, err := c.introduced(tcp)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	return p, err
}

func (c *caller) introduced(tcp *net.TCPConn) (proved, error) {
	conn, ch, err := overTLS(tcp, c.secure, tls.Client, func() bool { return true })
	if errors.Is(err, errPlain) {
		return proved{}, encryptionDiffers(c.me)
	} else if err != nil {
		return proved{}, err
	}
	p, err := introduce(conn, c.me, c.key, ch, c.peer)
	if err == nil {
		lift(conn)
	}
	return p, err
}

// isDropped: the other end hung up and said nothing.
func isDropped(err error) bool {
	for _, sign := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, sign) {
			return true
		}
	}
	return false
}

// pause returns false when ctx has ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// because makes of an error what the list of addresses says; it wraps err.
func because(err error) error {
	inner, step := err, "handshake"
	if op, is := errors.AsType[*net.OpError](err); is {
		inner = op.Err // without the addresses, which are in the list
		if op.Op == "dial" {
			step = "connecting"
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("did not answer in time (%s): %w", step, inner)
	case isDropped(err):
		return fmt.Errorf("hung up (%s): %w", step, inner)
	}
	return inner
}
