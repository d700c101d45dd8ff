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
)

// Dial connects to the front at an address, whose key must be the same. While
// nobody listens there, or the network does not lead there, it tries again until ctx ends. A
// connection that stays unacknowledged for timeout breaks.
func Dial(ctx context.Context, address string, key []byte, timeout time.Duration) (net.Conn, error) {
	config, err := config(key, supervisor)
	if err != nil {
		return nil, err
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, err := dial(ctx, address, config, timeout)
		if err == nil || !mayPass(err) {
			return conn, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// How long Dial waits between two attempts.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// mayPass reports whether an attempt failed because the front is not there yet.
func mayPass(err error) bool {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT, syscall.ECONNRESET} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func dial(ctx context.Context, address string, config *tls.Config, timeout time.Duration) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	secure, err := prove(ctx, conn.(*net.TCPConn), config, timeout)
	if err != nil {
		conn.Close()
		return nil, explain(err)
	}
	return secure, nil
}

func prove(ctx context.Context, conn *net.TCPConn, config *tls.Config, timeout time.Duration) (net.Conn, error) {
	if err := tune(conn, timeout); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, proveWait, fmt.Errorf("who listens there has proved nothing for %v", proveWait))
	defer cancel()
	guarded := &limited{TCPConn: conn, left: readBudget}
	secure := tls.Client(guarded, config)
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

// welcomed waits for the front's acceptance.
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

// explain says in the user's words why the front was not joined.
func explain(err error) error {
	var record tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.Is(err, errOtherKey):
		return errors.New("the front there holds another key: is it of this job, and the key file the same?")
	case errors.As(err, &record):
		return errors.New("who listens there is no golaunch")
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Errorf("the front there does not accept this key (%w)", err)
	case err == io.EOF:
		return errors.New("the front there closed the connection")
	}
	return err
}
