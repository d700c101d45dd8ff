package pager

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A Client is a rank's connection to the pager of its host.
type Client struct {
	socket *os.File
	raw    syscall.RawConn
	leash  int // the pager's end of it closes with the pager, and then the kernel kills this process
	addr   []byte

	mu      sync.Mutex
	waiting map[uint32]chan answer // by request; nil once the line is closed
	last    uint32
	ended   error
	done    chan struct{} // closed when listen has returned
	spare   sync.Pool     // of chan answer
}

type answer struct {
	body []byte
	fds  []int
	err  error
}

// Connect says hello over the socket, which it owns from now on. From then on this
// process dies with the pager: an access to a page could not end, or would find zeros.
func Connect(socket *os.File, hello line.Greeting) (*Client, error) {
	c := &Client{socket: socket, leash: -1, waiting: map[uint32]chan answer{}, done: make(chan struct{})}
	c.spare.New = func() any { return make(chan answer, 1) }
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	c.raw = raw
	go c.listen()
	theirs, err := c.fasten()
	if err == nil {
		c.addr, err = c.greet(hello, theirs)
		err = errors.Join(err, unix.Close(theirs))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the pager of this host: %w", err), c.Close())
	}
	return c, nil
}

func (c *Client) greet(hello line.Greeting, leash int) ([]byte, error) {
	body, err := json.Marshal(hello)
	if err != nil {
		return nil, err
	}
	a := c.ask(line.Frame{Kind: line.Hello, Body: body}, leash)
	return a.body, a.err
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
	err = errors.Join(err, c.socket.Close())
	<-c.done
	return err
}

// ask sends a request and waits for the answer.
func (c *Client) ask(f line.Frame, fds ...int) answer {
	reply := c.spare.Get().(chan answer)
	c.mu.Lock()
	if c.waiting == nil {
		defer c.mu.Unlock()
		return answer{err: c.ended}
	}
	c.last++
	f.ID = c.last
	c.waiting[f.ID] = reply
	c.mu.Unlock()
	if err := line.Send(c.socket, &f, fds...); err != nil {
		c.mu.Lock()
		delete(c.waiting, f.ID)
		c.mu.Unlock()
		return answer{err: fmt.Errorf("asking the pager: %w", err)}
	}
	a := <-reply
	c.spare.Put(reply)
	return a
}

// listen hands each answer to who waits for it.
func (c *Client) listen() {
	defer close(c.done)
	b := new(line.Buffer)
	for {
		f, fds, err := b.Receive(c.raw)
		if err != nil {
			c.end(fmt.Errorf("the line to the pager is closed: %w", err))
			return
		}
		a := answer{fds: fds}
		if f.Kind == line.Failed {
			a.err = fmt.Errorf("the pager: %s", f.Body)
		} else if len(f.Body) > 0 {
			a.body = append([]byte(nil), f.Body...)
		}
		c.mu.Lock()
		reply := c.waiting[f.ID]
		delete(c.waiting, f.ID)
		c.mu.Unlock()
		if reply != nil {
			reply <- a
		}
	}
}

func (c *Client) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = why
	for _, reply := range c.waiting {
		reply <- answer{err: why}
	}
	c.waiting = nil
}
