//go:build cgo && linux

package verbs

import (
	"fmt"

	"github.com/golaunch/golaunch/transport"
)

// harvest takes all there is from the completion queue, unless somebody else is at
// it, and returns whether there was something. It waits for nothing and allocates
// nothing.
func (e *endpoint) harvest() bool { return e.harvesting.TryLock() && e.reap() }

// harvestArmed has the device announce what ends from now on, and takes what has ended
// before: nothing falls between.
func (e *endpoint) harvestArmed() bool {
	e.harvesting.Lock()
	if !e.table.gone {
		// It fails for a broken device only, of which the asynchronous event tells.
		_ = e.cq.arm()
	}
	return e.reap()
}

// reap gives harvesting back.
func (e *endpoint) reap() (any bool) {
	any = e.drainQueue()
	e.harvesting.Unlock()
	if any {
		e.advance()
	}
	return any
}

// drainQueue takes all there is from the completion queue. Called with harvesting held.
func (e *endpoint) drainQueue() (any bool) {
	for !e.table.gone {
		n, err := e.cq.poll(e.handle)
		any = any || n > 0
		if err != nil || n < len(e.cq.batch) {
			break
		}
	}
	return any
}

// dispatch is the handler of everything that ends. Called with harvesting held.
func (e *endpoint) dispatch(w work) {
	switch w.id.kind() {
	case ofOrigin:
		e.table.origins[w.id.connection()].retire(w)
	case ofTarget:
		e.table.targets[w.id.connection()].retire(w)
	case ofCredit:
		e.table.origins[w.id.connection()].credited(w)
	case ofMessage:
		e.arrived(w)
	}
}

// arrived queues a message for Poll, or puts its buffer back when it is none.
func (e *endpoint) arrived(w work) {
	number := w.id.number()
	b := &e.table.buffers[number]
	from := e.table.pairs[w.pair]
	if w.status != 0 || from == nil {
		e.repost(number, b.mem(0), b.memory.lkey)
		return
	}
	if e.credits.keep(from) {
		e.arrivals.receive(message{from: from, buffer: number, lkey: b.memory.lkey, mem: b.mem(w.bytes)})
		return
	}
	m := e.copied(from, b.mem(w.bytes))
	e.repost(number, b.mem(0), b.memory.lkey)
	grant := e.credits.copied(from)
	e.arrivals.receive(m)
	if grant > 0 {
		from.giveCredit(grant)
	}
}

// copied is a message of a peer that has few buffers: they are not for what waits.
func (e *endpoint) copied(from *target, mem []byte) message {
	c := e.copies.Get().(*copied)
	return message{from: from, copied: c, mem: c[:copy(c[:], mem)]}
}

// repost gives a buffer, of which mem is the beginning, to the receive queue.
func (e *endpoint) repost(number uint32, mem []byte, lkey uint32) {
	// The queue has room for every buffer there is: it cannot fail but for a broken
	// device, of which the asynchronous event tells.
	_ = e.srq.post(newWorkID(ofMessage, 0, uint64(number)), mem[:transport.MaxMessage], lkey)
}

// because makes an error of work that has failed.
func (e *endpoint) because(w work) error {
	switch w.status {
	case statusFlushed:
		return fmt.Errorf("the connection has ended: %w", transport.ErrPeerFailed)
	case statusRetried:
		return fmt.Errorf("no answer from its device: %w", transport.ErrPeerFailed)
	}
	return fmt.Errorf("%s (vendor's code %#x): %w", e.cq.status(w.status), w.vendor, transport.ErrPeerFailed)
}
