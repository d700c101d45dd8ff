//go:build cgo && linux

package verbs

import (
	"github.com/golaunch/golaunch/transport"
)

// zeroCopy is from where on a Put of registered memory leaves from where it is. Its
// caller waits until the device has it, because it may write there again then; a
// shorter one is copied.
const zeroCopy = 16 << 10

// maxPiece is the longest request; longer operations are several. Devices take 2 GiB.
const maxPiece = 1 << 30

// Put writes src to the peer's memory. What the device knows and is long goes from
// where it is, other memory through bounce buffers.
func (c *conn) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	if c.once(opWrite, dst, src, 0, op) {
		return nil
	}
	if err := c.put(dst, src, op); err != nil {
		return c.refuse("Put", dst, len(src), err)
	}
	return nil
}

func (c *conn) put(dst transport.Remote, src []byte, op transport.OpID) error {
	d, err := c.resolve(dst, len(src))
	if err != nil {
		return err
	}
	if len(src) == 0 {
		return c.nothing(op)
	}
	if len(src) >= zeroCopy {
		if lkey, ok := c.o.e.local.find(src); ok {
			return c.direct(opWrite, d, src, lkey, op)
		}
	}
	return c.pieces(opWrite, d, src, op)
}

// Get reads the peer's memory, to where it belongs if the device knows that.
func (c *conn) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	if lkey, ok := c.o.e.local.find(dst); ok && c.once(opRead, src, dst, lkey, op) {
		return nil
	}
	if err := c.get(dst, src, op); err != nil {
		return c.refuse("Get", src, len(dst), err)
	}
	return nil
}

func (c *conn) get(dst []byte, src transport.Remote, op transport.OpID) error {
	d, err := c.resolve(src, len(dst))
	if err != nil {
		return err
	}
	if len(dst) == 0 {
		return c.nothing(op)
	}
	if lkey, ok := c.o.e.local.find(dst); ok {
		return c.direct(opRead, d, dst, lkey, op)
	}
	return c.pieces(opRead, d, dst, op)
}

// once starts what most calls come to, and the shortest ones above all: one request for
// a region that is known, with nothing to wait for. A Put's bytes travel in it, a Get's
// arrive where they belong. false: nothing was started, and whoever asks goes the long
// way, which also finds out what is wrong.
func (c *conn) once(code opcode, far transport.Remote, local []byte, lkey uint32, op transport.OpID) (started bool) {
	o := c.o
	o.mu.Lock()
	d, known := o.recall(far.Key)
	if known && c.end() == nil && d.holds(far, len(local)) && o.single(code, len(local)) && o.room() &&
		(op == 0 || o.e.arrivals.reserve()) {
		r := request{opcode: code, inlined: code == opWrite, remote: d.address + uint64(far.Offset), rkey: d.rkey}
		started = o.post(&r, local, lkey, entry{op: op}, false) == nil
		if !started && op != 0 {
			o.e.arrivals.cancel()
		}
	}
	o.mu.Unlock()
	return started
}

// single reports whether so many bytes, and not none, are one request. Called with mu
// held.
//
// Precondition: pair is not nil.
func (o *origin) single(code opcode, n int) bool {
	longest := o.e.pieceBytes
	if code == opWrite {
		longest = o.pair.inline
	}
	return 0 < n && n <= longest
}

// nothing completes an operation on no bytes.
func (c *conn) nothing(op transport.OpID) error {
	if err := c.reserve(op); err != nil || op == 0 {
		return err
	}
	c.o.e.arrivals.complete(transport.Completion{Op: op, Rank: c.o.rank})
	c.o.e.ring()
	return nil
}

// pieces carries out an operation through bounce buffers. The last piece reports op.
func (c *conn) pieces(code opcode, d descriptor, local []byte, op transport.OpID) error {
	if err := c.reserve(op); err != nil {
		return err
	}
	for len(local) > 0 {
		n := min(len(local), largeBytes)
		r := request{opcode: code, remote: d.address, rkey: d.rkey}
		en := entry{signalled: n > smallBytes}
		if n == len(local) {
			en.op = op
		}
		piece := local[:n]
		if err := c.until(func() (bool, error) { return c.start(&r, piece, en) }); err != nil {
			c.cancel(op)
			return err
		}
		d.address += uint64(n)
		local = local[n:]
	}
	return nil
}

// direct carries out an operation on memory that the device knows as lkey. A Put
// returns when the device needs it no more.
func (c *conn) direct(code opcode, d descriptor, local []byte, lkey uint32, op transport.OpID) error {
	if err := c.reserve(op); err != nil {
		return err
	}
	var number uint64
	for len(local) > 0 {
		n := min(len(local), c.o.e.pieceBytes)
		r := request{opcode: code, remote: d.address, rkey: d.rkey}
		en := entry{signalled: n == len(local)}
		if n == len(local) {
			en.op = op
		}
		piece := local[:n]
		err := c.until(func() (bool, error) {
			if !c.o.room() {
				return false, nil
			}
			number = c.o.tail
			return true, c.o.post(&r, piece, lkey, en, false)
		})
		if err != nil {
			c.cancel(op)
			return err
		}
		d.address += uint64(n)
		local = local[n:]
	}
	if code == opWrite {
		err := c.await(number)
		if op == 0 {
			return err
		}
	}
	return nil
}

// FetchAdd is done by the peer's device.
func (c *conn) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	r := request{opcode: opAdd, operand: delta}
	if err := c.atomic(&r, dst, old, op); err != nil {
		return c.refuse("FetchAdd", dst, wordBytes, err)
	}
	return nil
}

// CompareSwap is done by the peer's device.
func (c *conn) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	r := request{opcode: opSwap, operand: expect, swap: new}
	if err := c.atomic(&r, dst, old, op); err != nil {
		return c.refuse("CompareSwap", dst, wordBytes, err)
	}
	return nil
}

const wordBytes = 8

func (c *conn) atomic(r *request, dst transport.Remote, old *uint64, op transport.OpID) error {
	d, err := c.resolve(dst, wordBytes)
	if err != nil {
		return err
	}
	if d.address%wordBytes != 0 {
		return transport.ErrAlign
	}
	if err := c.reserve(op); err != nil {
		return err
	}
	r.remote, r.rkey = d.address, d.rkey
	o := c.o
	err = c.until(func() (bool, error) {
		if !o.room() {
			return false, nil
		}
		return true, o.post(r, o.result(o.tail), o.page.lkey, entry{op: op, old: old}, false)
	})
	if err != nil {
		c.cancel(op)
	}
	return err
}
