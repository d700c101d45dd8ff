package control

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// watch is what a Conn over a network needs to notice that the other side is gone
// without a word: each side sends a Beat now and then, and minds silence.
type watch struct {
	heard  atomic.Bool // something came since the last tick
	paused atomic.Bool
	broken chan struct{} // closed when nothing can be sent any more
}

// ticks is after how many ticks without a sound the other side is given up. The
// last sound was up to one tick earlier: a tick is a little less than the tenth.
const ticks = 10

// A SilentError says that nothing was heard for too long.
type SilentError struct{ For time.Duration }

func (e *SilentError) Error() string { return fmt.Sprintf("nothing was heard for %v", e.For) }

// Watch breaks the connection when nothing is heard for timeout. The other side
// must Watch too: it sends what is to be heard. It is called once at most. Time in
// which this process does not run does not count.
func (c *Conn) Watch(timeout time.Duration) {
	go func() {
		ticker := time.NewTicker(max(timeout/(ticks+1), time.Millisecond))
		defer ticker.Stop()
		for silent := 0; silent < ticks; {
			select {
			case <-ticker.C:
			case <-c.broken:
				return
			}
			if c.paused.Load() {
				continue
			}
			c.Send(&Beat{})
			silent++
			if c.heard.Swap(false) {
				silent = 0
			}
		}
		c.fail(&SilentError{timeout})
		c.stream.Close()
	}()
}

// Pause stops sending Beats and minding silence until Resume: one of the two
// processes is about to be stopped.
func (c *Conn) Pause() { c.paused.Store(true) }

// Resume ends what Pause began.
func (c *Conn) Resume() {
	c.heard.Store(true)
	c.paused.Store(false)
}

// reason is why Receive failed: err, unless it follows from the silence.
func (c *Conn) reason(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var silent *SilentError
	if errors.As(c.err, &silent) {
		return silent
	}
	return err
}

// hearing is the stream; it notes that something came.
type hearing struct{ c *Conn }

func (h hearing) Read(b []byte) (int, error) {
	n, err := h.c.stream.Read(b)
	if n > 0 {
		h.c.heard.Store(true)
	}
	return n, err
}
