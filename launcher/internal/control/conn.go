package control

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// A Conn carries messages over a byte stream.
type Conn struct {
	stream io.ReadWriteCloser
	in     *bufio.Reader
	prompt bool // frames are written as they are sent

	mu      sync.Mutex
	changed sync.Cond // queue, writing or err has changed
	queue   []byte    // frames to be written
	writing bool      // the writer is in a Write
	err     error     // why nothing can be sent any more
}

// NewConn returns a Conn over stream, which it takes over. The caller must Close
// it.
func NewConn(stream io.ReadWriteCloser) *Conn {
	c := newConn(stream, Window)
	go c.write()
	return c
}

func newConn(stream io.ReadWriteCloser, buffer int) *Conn {
	c := &Conn{stream: stream}
	c.in = bufio.NewReaderSize(stream, buffer)
	c.changed.L = &c.mu
	return c
}

// A PromptStream is one whose Write never waits, and that watches over its other end
// itself. Flush waits until what was written has arrived, or cannot.
type PromptStream interface {
	io.ReadWriteCloser
	Flush() error
}

// promptBuffer is enough for a stream that has what it reads in memory.
const promptBuffer = 4 << 10

// NewPromptConn returns a Conn that has written a message when Send returns.
func NewPromptConn(stream PromptStream) *Conn {
	c := newConn(stream, promptBuffer)
	c.prompt = true
	return c
}

// Frame returns what a Conn writes for a message.
func Frame(m Message) []byte { return appendFrame(nil, m) }

// Send queues a message; the caller may use it again at once. Messages arrive in
// the order of the calls. A broken stream swallows them; Receive reports it.
func (c *Conn) Send(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.queue = appendFrame(c.queue, m)
	if c.prompt {
		_, c.err = c.stream.Write(c.queue)
		c.queue = c.queue[:0]
	}
	c.changed.Broadcast()
}

// Flush waits until everything queued is written, or cannot be.
func (c *Conn) Flush() error {
	if c.prompt {
		return c.stream.(PromptStream).Flush()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && (len(c.queue) > 0 || c.writing) {
		c.changed.Wait()
	}
	return c.err
}

// Close closes the stream. What is still queued is lost.
func (c *Conn) Close() error {
	c.fail(io.ErrClosedPipe)
	return c.stream.Close()
}

func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.queue = nil
	c.changed.Broadcast()
}

// write empties the queue, all frames that are there in one go.
func (c *Conn) write() {
	var frames []byte
	for {
		frames = c.next(frames[:0])
		if frames == nil {
			return
		}
		if _, err := c.stream.Write(frames); err != nil {
			c.fail(err)
			return
		}
	}
}

// next waits for frames and leaves spare as the empty queue; nil: the end.
func (c *Conn) next(spare []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.changed.Broadcast()
	for c.err == nil && len(c.queue) == 0 {
		c.changed.Wait()
	}
	if c.err != nil {
		return nil
	}
	frames := c.queue
	c.queue, c.writing = spare, true
	return frames
}

// Receive waits for the next message. io.EOF: the other side has closed the
// stream between two frames.
func (c *Conn) Receive() (Message, error) {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > MaxFrame {
		return nil, fmt.Errorf("frame of %d bytes, want 1 to %d", n, MaxFrame)
	}
	body, err := readBody(c.in, int(n))
	if err != nil {
		return nil, err
	}
	return decode(body)
}

// readBody reads n bytes. It trusts n only as far as bytes arrive.
func readBody(r io.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, Window))
	for len(body) < n {
		have := len(body)
		body = append(body, make([]byte, min(n-have, max(have, Window)))...)
		if _, err := io.ReadFull(r, body[have:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return body, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
