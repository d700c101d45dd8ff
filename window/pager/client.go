package pager

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A Client is a rank's connection to the pager of its host.
//
// Of the goroutines that wait for an answer one, the reader, waits in the kernel, and hands
// to the others what is theirs; they hold no thread. When it has its own answer, another
// one becomes the reader. So the answer to a lone request wakes one thread, and nobody
// else.
type Client struct {
	socket int
	leash  int // the pager's end of it closes with the pager, and then the kernel kills this process
	addr   []byte
	buffer line.Buffer // the reader's

	mu      sync.Mutex
	waiting map[uint32]*call // by request
	last    uint32
	reading bool  // there is a reader
	ended   error // why the line is closed
	spare   sync.Pool
}

// A call is a request that waits for its answer.
type call struct {
	answer answer
	done   bool
	// wake holds a token when done is true, or when the call is to become the reader.
	wake chan struct{}
}

type answer struct {
	body []byte
	fds  []int
	err  error
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
	c := &Client{socket: fd, leash: -1, waiting: map[uint32]*call{}}
	c.spare.New = func() any { return &call{wake: make(chan struct{}, 1)} }
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
	return errors.Join(err, unix.Close(c.socket))
}

// ask sends a request and waits for the answer.
func (c *Client) ask(f line.Frame, fds ...int) answer {
	me := c.spare.Get().(*call)
	c.mu.Lock()
	if c.ended != nil {
		defer c.mu.Unlock()
		return answer{err: c.ended}
	}
	c.last++
	f.ID = c.last
	c.waiting[f.ID] = me
	c.mu.Unlock()
	if err := line.Send(c.socket, &f, fds...); err != nil {
		c.end(fmt.Errorf("asking the pager: %w", err))
	}
	return c.await(me)
}

// tell sends what is not answered.
func (c *Client) tell(f line.Frame) error {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended != nil {
		return ended
	}
	return line.Send(c.socket, &f)
}

// await returns the answer to a call: it reads, unless somebody else does.
func (c *Client) await(me *call) answer {
	c.mu.Lock()
	for !me.done {
		if c.reading {
			c.mu.Unlock()
			<-me.wake
			c.mu.Lock()
			continue
		}
		c.reading = true
		c.mu.Unlock()
		f, fds, err := c.buffer.Receive(c.socket)
		c.mu.Lock()
		c.reading = false
		if err != nil {
			c.fail(fmt.Errorf("the line to the pager is closed: %w", err))
		} else {
			c.deliver(f, fds)
		}
	}
	if !c.reading {
		c.nextReader()
	}
	a := me.answer
	me.answer, me.done = answer{}, false
	c.mu.Unlock()
	select { // a token that came when it was not waited for
	case <-me.wake:
	default:
	}
	c.spare.Put(me)
	return a
}

// deliver ends the call that a frame answers. Called with mu held.
func (c *Client) deliver(f line.Frame, fds []int) {
	me := c.waiting[f.ID]
	if me == nil {
		return
	}
	delete(c.waiting, f.ID)
	a := answer{fds: fds}
	if f.Kind == line.Failed {
		a.err = fmt.Errorf("the pager: %s", f.Body)
	} else if len(f.Body) > 0 {
		a.body = append([]byte(nil), f.Body...)
	}
	me.end(a)
}

// end is called with Client.mu held. Its token is the only one, or a second one that is not
// needed.
func (m *call) end(a answer) {
	m.answer, m.done = a, true
	m.rouse()
}

func (m *call) rouse() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// nextReader has another call read. Called with mu held, by who has read.
func (c *Client) nextReader() {
	for _, other := range c.waiting {
		other.rouse()
		return
	}
}

// end closes the line, for a reason.
func (c *Client) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(why)
}

// fail is end with mu held.
func (c *Client) fail(why error) {
	if c.ended == nil {
		c.ended = why
	}
	for id, m := range c.waiting {
		delete(c.waiting, id)
		m.end(answer{err: c.ended})
	}
}
