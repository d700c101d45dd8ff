package pager

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A Client is a rank's connection to the pager of its host: a socket, and for requests on
// which a miss waits memory that both share.
type Client struct {
	socket int
	leash  int // the pager's end of it closes with the pager, and then the kernel kills this process
	addr   []byte
	mail   line.Mail
	bell   int // an eventfd, which wakes the pager

	slow *desk // by the socket
	fast *desk // by the mail
}

// Connect says hello over the socket, which it owns from now on. From then on this
// process dies with the pager: an access to a page could not end, or would find zeros.
func Connect(socket *os.File, hello line.Greeting) (*Client, error) {
	fd, err := unix.FcntlInt(socket.Fd(), unix.F_DUPFD_CLOEXEC, 0) // which the Go scheduler's poller does not know
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err = errors.Join(os.NewSyscallError("fcntl", err), socket.Close()); err != nil {
		return nil, err
	}
	c := &Client{socket: fd, leash: -1, bell: -1, slow: newDesk(&bySocket{fd: fd}, 0)}
	theirs, err := c.fasten()
	if err == nil {
		err = errors.Join(c.greet(hello, theirs), unix.Close(theirs))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the pager of this host: %w", err), c.Close())
	}
	return c, nil
}

// greet learns how pagers of other hosts reach this one's, and opens the mail.
func (c *Client) greet(hello line.Greeting, leash int) error {
	body, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	a := c.slow.ask(line.Frame{Kind: line.Hello, Body: body}, leash)
	if a.err != nil {
		return a.err
	}
	if len(a.fds) != 2 {
		line.CloseAll(a.fds)
		return fmt.Errorf("%d descriptors, want 2", len(a.fds))
	}
	c.addr, c.bell = a.body, a.fds[1]
	c.mail, err = line.MapMail(a.fds[0])
	if err = errors.Join(err, unix.Close(a.fds[0])); err != nil {
		return fmt.Errorf("mapping the mail: %w", err)
	}
	way := &byMail{bell: c.bell}
	way.requests, way.answers = c.mail.Rank()
	c.fast = newDesk(way, line.Places)
	return nil
}

// fasten makes the leash, and returns the pager's end of it.
func (c *Client) fasten() (theirs int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socketpair", err)
	}
	c.leash = pair[0]
	if err := dieWith(c.leash); err != nil {
		_ = unix.Close(pair[1])
		return -1, fmt.Errorf("fastening this process to the pager: %w", err)
	}
	return pair[1], nil
}

// dieWith has the kernel kill this process when the other end of a socket closes, or
// says anything.
func dieWith(socket int) error {
	const setSignal = 10 // F_SETSIG
	for _, set := range []struct{ command, value int }{
		{setSignal, int(unix.SIGKILL)},
		{unix.F_SETOWN, os.Getpid()},
		{unix.F_SETFL, unix.O_ASYNC},
	} {
		if _, err := unix.FcntlInt(uintptr(socket), set.command, set.value); err != nil {
			return err
		}
	}
	return nil
}

// Address is how pagers of other hosts reach this one's; empty if there are none.
func (c *Client) Address() []byte { return c.addr }

// Close says goodbye. Views must have been closed.
func (c *Client) Close() error {
	var err error
	if c.leash >= 0 {
		err = unix.Close(c.leash) // first: the pager closes its end when the socket has ended
	}
	if c.bell >= 0 {
		err = errors.Join(err, unix.Close(c.bell))
	}
	return errors.Join(err, unix.Close(c.socket), c.mail.Close())
}
