package launcher

import (
	"os"
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/lines"
)

// A writer writes in its own goroutine what the loop gives it, in order: a stopped
// terminal must not stop the loop. What waits here is bounded by the credit that
// the ranks' streams have.
type writer struct {
	done chan<- written

	mu      sync.Mutex
	changed sync.Cond
	queue   []write
}

type write struct {
	to    *os.File
	piece lines.Piece
}

// written tells the loop of some writes.
type written struct {
	pieces []lines.Piece
	err    error // the last one's
}

func newWriter(done chan<- written) *writer {
	w := &writer{done: done}
	w.changed.L = &w.mu
	go w.run()
	return w
}

func (w *writer) put(to *os.File, p lines.Piece) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, write{to, p})
	w.changed.Signal()
}

// take waits for the queue to have something, and empties it.
func (w *writer) take() []write {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 {
		w.changed.Wait()
	}
	queue := w.queue
	w.queue = nil
	return queue
}

// run writes for ever; neighbours to the same file go in one call.
func (w *writer) run() {
	var data []byte
	for {
		queue := w.take()
		for len(queue) > 0 {
			to, n := queue[0].to, 0
			data = data[:0]
			var pieces []lines.Piece
			for n < len(queue) && queue[n].to == to && len(data) < maxWrite {
				data = append(data, queue[n].piece.Data...)
				pieces = append(pieces, queue[n].piece)
				n++
			}
			_, err := to.Write(data)
			w.done <- written{pieces, err}
			queue = queue[n:]
		}
	}
}

// maxWrite is the length in bytes from which a write is not joined with the next.
const maxWrite = 64 << 10
