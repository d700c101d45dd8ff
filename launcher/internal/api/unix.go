package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// SocketName is what an agent's Unix socket is called in its runtime directory.
const SocketName = "agent.sock"

// Unix is an agent's listener for its own host. Only processes of its own user, and
// root's, get in: the kernel says whose a connection is.
type Unix struct {
	socket *net.UnixListener
	// Refused, if it is not nil, is told of every connection that was not accepted. It
	// must be set before Accept is called first.
	Refused func(why error)
}

// ListenUnix listens in a directory, which should have mode 0700. A socket
// that is there and whose agent has died is replaced: the caller knows that there is no
// other agent.
func ListenUnix(dir string) (*Unix, error) {
	path := filepath.Join(dir, SocketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		socket.Close()
		return nil, err
	}
	return &Unix{socket: socket}, nil
}

// Addr is where it listens.
func (l *Unix) Addr() net.Addr { return l.socket.Addr() }

// Close stops listening and removes the socket.
func (l *Unix) Close() error { return l.socket.Close() }

// Accept waits for the next connection of somebody who may.
func (l *Unix) Accept() (net.Conn, error) {
	for {
		c, err := l.socket.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peer(c)
		if err == nil && !mayCall(uid, os.Geteuid()) {
			err = fmt.Errorf("user %d is not this agent's", uid)
		}
		if err == nil {
			return &unixConn{c, uid}, nil
		}
		c.Close()
		if l.Refused != nil {
			l.Refused(err)
		}
	}
}

// mayCall says who may ask an agent of a user.
func mayCall(caller, agent int) bool { return caller == agent || caller == 0 }

// peer is the user at the other end.
func peer(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var got error
	err = raw.Control(func(fd uintptr) { cred, got = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, got); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// A unixConn knows whose it is.
type unixConn struct {
	*net.UnixConn
	uid int
}

// DialUnix returns a client of the agent whose runtime directory this is.
func DialUnix(dir string) *Client {
	path := filepath.Join(dir, SocketName)
	pool := NewPool(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	})
	return pool.Agent("of this host ("+path+")", "agent")
}

// Close closes the connections of the client's pool that nobody uses.
func (c *Client) Close() { c.pool.Close() }
