package join

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// Dial connects to the front at an address, whose key must be the same. While
// nobody listens there, the network does not lead there, or nobody has the name, it
// tries again until ctx ends. A connection that stays unacknowledged for timeout
// breaks.
func Dial(ctx context.Context, address string, key []byte, timeout time.Duration) (net.Conn, error) {
	d, err := jobDialer(key, timeout)
	if err != nil {
		return nil, err
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, err := d.dial(ctx, address)
		if err == nil || !MayPass(err) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// DialOnce is Dial that tries once.
func DialOnce(ctx context.Context, address string, key []byte, timeout time.Duration) (net.Conn, error) {
	d, err := jobDialer(key, timeout)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, address)
}

func jobDialer(key []byte, timeout time.Duration) (*dialer, error) {
	k, err := keys.New(key)
	if err != nil {
		return nil, err
	}
	return newDialer(supervisor, keys.Ring{k}, timeout)
}

// Call connects to the agent at an address, which must hold a key of the ring. It
// tries once. A connection that stays unacknowledged for timeout breaks.
func Call(ctx context.Context, address string, ring keys.Ring, timeout time.Duration) (net.Conn, error) {
	return call(ctx, caller, address, ring, timeout)
}

// CallGossip is Call for the streams of gossip.
func CallGossip(ctx context.Context, address string, ring keys.Ring, timeout time.Duration) (net.Conn, error) {
	return call(ctx, peer, address, ring, timeout)
}

func call(ctx context.Context, r role, address string, ring keys.Ring, timeout time.Duration) (net.Conn, error) {
	d, err := newDialer(r, ring, timeout)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, address)
}

// How long Dial waits between two attempts.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// MayPass reports whether an attempt to connect failed because who listens there may
// only be late. That also holds for a name that nobody has: in a container platform
// names come with those who bear them.
func MayPass(err error) bool {
	var name *net.DNSError
	if errors.As(err, &name) {
		return name.IsNotFound || name.Temporary()
	}
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT, syscall.ECONNRESET} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// A dialer connects as one role.
type dialer struct {
	role    role
	proofs  []proof
	timeout time.Duration
}

func newDialer(r role, ring keys.Ring, timeout time.Duration) (*dialer, error) {
	proofs, err := newProofs(ring, r)
	return &dialer{r, proofs, timeout}, err
}

func (d *dialer) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	secure, err := d.prove(ctx, conn.(*net.TCPConn))
	if err != nil {
		conn.Close()
		return nil, d.explain(err)
	}
	return secure, nil
}

func (d *dialer) prove(ctx context.Context, conn *net.TCPConn) (net.Conn, error) {
	if err := tune(conn, d.timeout); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, proveWait, fmt.Errorf("who listens there has proved nothing for %v", proveWait))
	defer cancel()
	guarded := &limited{TCPConn: conn, left: readBudget}
	secure := tls.Client(guarded, calling(d.proofs))
	err := secure.HandshakeContext(ctx)
	if err == nil {
		err = welcomed(ctx, secure)
	}
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	guarded.lift()
	return secure, err
}

// welcomed waits for the acceptance of who listens.
func welcomed(ctx context.Context, c net.Conn) error {
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	var b [1]byte
	_, err := io.ReadFull(c, b[:])
	if !stop() && err == nil {
		return context.Cause(ctx)
	}
	if err == nil && b[0] != accepted {
		return errOtherKey
	}
	return err
}

// explain says in the user's words why the connection was not made.
func (d *dialer) explain(err error) error {
	var record tls.RecordHeaderError
	var alert *net.OpError
	there := d.role.other()
	switch {
	case errors.Is(err, errOtherKey) && there == front:
		return errors.New("the front there holds another key: is it of this job, and the key file the same?")
	case errors.Is(err, errOtherKey):
		return fmt.Errorf("the %s there holds another key: is it of this cluster, and the key file the same?", there)
	case errors.As(err, &record):
		return errors.New("who listens there is no golaunch")
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Errorf("the %s there does not accept this key (%w)", there, err)
	case err == io.EOF:
		return fmt.Errorf("the %s there closed the connection", there)
	}
	return err
}
