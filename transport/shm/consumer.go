package shm

import (
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A consumer is the receiving end of a ring. One goroutine at a time.
type consumer struct {
	data memory
	head *atomic.Uint64 // read by the producer

	at     int    // where the next record begins; Invariant: 0 <= at < len(data.bytes)
	taken  uint64 // bytes handed out since the beginning
	freed  uint64 // what head says; Invariant: freed <= taken <= freed+len(data.bytes)-spare
	number uint32 // of the next record
}

// take returns the next message in place: it is the caller's until release.
// false: there is none. After an error the ring stays as it is, and every later
// take returns the error again.
func (c *consumer) take() ([]byte, bool, error) {
	h := header(c.data.words[c.at/wordBytes].Load())
	if h == 0 {
		return nil, false, nil
	}
	if n := h.length(); c.plain(h, n) {
		first := c.at + wordBytes
		c.advance(recordBytes(n))
		return c.data.bytes[first : first+n : first+n], true, nil
	}
	return c.takeSlowly()
}

// plain tells whether h is what next accepts, and no pad, in a few comparisons.
func (c *consumer) plain(h header, n int) bool {
	record := recordBytes(n)
	return h>>numberShift == (headerReady>>numberShift|header(c.number&numberMask)) && n <= transport.MaxMessage &&
		c.at+record <= len(c.data.bytes) && c.taken-c.freed+uint64(record)+spare <= uint64(len(c.data.bytes))
}

// takeSlowly is for pads and for what is wrong.
func (c *consumer) takeSlowly() ([]byte, bool, error) {
	h, err := c.next()
	if err == nil && h.pad() {
		c.advance(wordBytes + h.length())
		h, err = c.next()
	}
	if err != nil || h == 0 {
		return nil, false, err
	}
	first := c.at + wordBytes
	last := first + h.length()
	c.advance(recordBytes(h.length()))
	return c.data.bytes[first:last:last], true, nil
}

func (c *consumer) empty() bool { return c.data.words[c.at/wordBytes].Load() == 0 }

// next is the acquire: it returns the header of the next record, checked, or 0.
func (c *consumer) next() (header, error) {
	h := header(c.data.words[c.at/wordBytes].Load())
	if h == 0 {
		return 0, nil
	}
	if err := h.check(c.number, c.at, len(c.data.bytes)); err != nil {
		return 0, err
	}
	return h, c.overrun(h)
}

// overrun refuses a record that takes room which was not given back yet: the
// sender would be writing over messages the receiver still reads.
func (c *consumer) overrun(h header) error {
	held := c.taken - c.freed + uint64(recordBytes(h.length())) + spare
	if held <= uint64(len(c.data.bytes)) {
		return nil
	}
	return fmt.Errorf("%w: record %d lies in room that was not given back", errCorrupt, c.number)
}

func (c *consumer) advance(record int) {
	c.at += record
	if c.at == len(c.data.bytes) {
		c.at = 0
	}
	c.taken += uint64(record)
	c.number++
}

// release gives back everything taken and tells whether there was anything.
func (c *consumer) release() bool {
	if c.freed == c.taken {
		return false
	}
	c.freed = c.taken
	c.head.Store(c.taken)
	return true
}
