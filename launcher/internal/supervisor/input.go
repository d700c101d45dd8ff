package supervisor

import (
	"os"
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// input hands golaunch's stdin to the ranks that read it. A chunk is paid for, and
// the front may send more, when the slowest of them has taken it.
type input struct {
	front *control.Conn

	mu      sync.Mutex
	changed sync.Cond // a reader's queue, or ended
	readers map[int]*reader
	started bool // every reader is known
	ended   bool // the front has no more
	closed  bool // the front knows that nobody reads
}

// A reader is a rank that reads stdin; guarded by input.mu.
type reader struct {
	pipe  *os.File
	queue []*chunk
	gone  bool
}

type chunk struct {
	data    []byte
	waiting int // readers that have not taken it
}

func newInput(front *control.Conn) *input {
	in := &input{front: front, readers: map[int]*reader{}}
	in.changed.L = &in.mu
	return in
}

// join adds a reader, if pipe is not nil.
func (in *input) join(rank int, pipe *os.File) {
	if pipe == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	r := &reader{pipe: pipe}
	in.readers[rank] = r
	go in.feed(rank, r)
}

// ready opens the window: every reader has joined.
func (in *input) ready() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.started = true
	if len(in.readers) > 0 {
		in.front.Send(&control.StdinCredit{Bytes: control.Window})
	}
	in.tellIfUnread()
}

func (in *input) tellIfUnread() {
	if in.started && !in.closed && len(in.readers) == 0 {
		in.closed = true
		in.front.Send(&control.StdinClosed{})
	}
}

func (in *input) write(data []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := &chunk{data: data, waiting: len(in.readers)}
	for _, r := range in.readers {
		r.queue = append(r.queue, c)
	}
	in.changed.Broadcast()
}

func (in *input) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.changed.Broadcast()
}

// leave removes a reader whose process has ended.
func (in *input) leave(rank int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if r := in.readers[rank]; r != nil {
		in.remove(rank, r)
	}
}

// remove takes a reader out, and its chunks for taken.
func (in *input) remove(rank int, r *reader) {
	if r.gone {
		return
	}
	r.gone = true
	r.pipe.Close() // ends a Write that waits
	delete(in.readers, rank)
	for _, c := range r.queue {
		in.took(c)
	}
	r.queue = nil
	in.tellIfUnread()
	in.changed.Broadcast()
}

func (in *input) took(c *chunk) {
	if c.waiting--; c.waiting == 0 {
		in.front.Send(&control.StdinCredit{Bytes: len(c.data)})
	}
}

// feed writes to one reader until it or the input ends.
func (in *input) feed(rank int, r *reader) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for {
		for len(r.queue) == 0 && !in.ended && !r.gone {
			in.changed.Wait()
		}
		if len(r.queue) == 0 || r.gone {
			in.remove(rank, r)
			return
		}
		c := r.queue[0]
		in.mu.Unlock()
		_, err := r.pipe.Write(c.data)
		in.mu.Lock()
		if err != nil {
			in.remove(rank, r)
			return
		}
		if !r.gone {
			r.queue = r.queue[1:]
			in.took(c)
		}
	}
}
