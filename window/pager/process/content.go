package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/window/coherence"
)

// A content is a page's content that travels: it lies in a slot that a peer has put it
// into, or in memory of this process. Pages of a cache are never sent from where they are:
// they may be punched.
type content struct {
	mem  []byte
	link *link // whose slot it lies in; nil: memory of this process
	slot uint16
	refs int  // the machine, unless out, and each message that is queued
	out  bool // the machine has given it away in the current batch
}

// contents are all that this process has, by coherence.Data - 1. Buffers of its own are
// kept and used again.
type contents struct {
	all      []content
	unused   []coherence.Data // entries without memory
	own      [][]byte         // memory without an entry
	pageSize int
	zero     []byte
}

// ownChunk is how many pages of memory are taken at a time.
const ownChunk = 64

func newContents() contents {
	size := os.Getpagesize()
	return contents{pageSize: size, zero: make([]byte, size)}
}

func (c *contents) add(x content) coherence.Data {
	if n := len(c.unused); n > 0 {
		d := c.unused[n-1]
		c.unused = c.unused[:n-1]
		c.all[d-1] = x
		return d
	}
	c.all = append(c.all, x)
	return coherence.Data(len(c.all))
}

func (c *contents) at(d coherence.Data) *content { return &c.all[d-1] }

// bytes is the content of a page.
func (c *contents) bytes(d coherence.Data) []byte {
	if d == coherence.Zero {
		return c.zero
	}
	return c.at(d).mem
}

// save puts a page's content aside.
func (c *contents) save(page []byte) (coherence.Data, error) {
	mem, err := c.buffer()
	if err != nil {
		return coherence.NoData, err
	}
	copy(mem, page)
	return c.add(content{mem: mem, refs: 1}), nil
}

func (c *contents) buffer() ([]byte, error) {
	if len(c.own) == 0 {
		chunk, err := unix.Mmap(-1, 0, ownChunk*c.pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return nil, fmt.Errorf("%d pages for what is to be sent: %w", ownChunk, err)
		}
		for i := range ownChunk {
			c.own = append(c.own, chunk[i*c.pageSize:(i+1)*c.pageSize])
		}
	}
	n := len(c.own)
	mem := c.own[n-1]
	c.own = c.own[:n-1]
	return mem, nil
}

// evacuate empties the slot that a content lies in: the machine keeps the content, and
// for how long depends on other hosts, so that the slot's host must not wait for it.
func (c *contents) evacuate(d coherence.Data) error {
	x := c.at(d)
	mem, err := c.buffer()
	if err != nil {
		return err
	}
	copy(mem, x.mem)
	x.link.giveBack(x.slot)
	x.mem, x.link = mem, nil
	return nil
}

// release drops one reference.
func (c *contents) release(d coherence.Data) {
	x := c.at(d)
	if x.refs--; x.refs > 0 {
		return
	}
	if x.link != nil {
		x.link.giveBack(x.slot)
	} else {
		c.own = append(c.own, x.mem)
	}
	*x = content{}
	c.unused = append(c.unused, d)
}
