//go:build cgo && linux

package verbs

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

const (
	// originDepth is how many requests a connection may have under way.
	originDepth = 128
	// signalEvery: of requests that nobody waits for, one in so many is signalled.
	signalEvery = originDepth / 4
	// creditRequests is how many notices of credit can be under way: each is for one
	// message at least.
	creditRequests = maxCredits
	// wantInline is how many bytes a request should be able to carry in itself.
	wantInline = 128
)

// An origin is the connection from this rank to a peer: what Puts, Gets, atomics and
// messages travel on. The connection from the peer to this rank, if there is one, is
// another queue pair.
//
// The device works through requests in their order, so the end of a signalled one
// tells that those before it have ended, too. entries has one for each request whose
// end is not known.
//
// Invariant: head <= tail <= head+originDepth; signalled <= tail.
type origin struct {
	e    *endpoint
	rank int
	side net.Conn // over which it was arranged; then only for the goodbye

	number int // in the endpoint's table
	peer   greeting
	page   *memory // what the device writes to on this connection's behalf

	mu         sync.Mutex
	pair       *queuePair // nil: closed
	entries    [originDepth]entry
	head, tail uint64
	signalled  uint64 // one more than the number of the last signalled request
	credit     int
	err        error  // why nothing can be done any more
	failed     uint64 // the first request that has failed; noFailure: none
	known      map[uint64]descriptor
	last       uint64 // the key that was used last, and what is known of it; 0, which is no key: none
	lastKnown  descriptor
	seen       uint64 // closed regions of the peer, when that was last right
}

// An entry is what is to be done when a request has ended.
type entry struct {
	op        transport.OpID
	fill      []byte  // of a Get through a bounce buffer
	old       *uint64 // of an atomic
	piece     int32   // of pool
	pool      *pool   // nil: no bounce buffer
	signalled bool    // somebody waits for it
}

// The page: the count of closed regions, which the peer writes, and the results of
// atomics, one for each entry.
const (
	pageBytes = 4096
	resultsAt = 64
)

func newOrigin(e *endpoint, rank int) (o *origin, err error) {
	o = &origin{e: e, rank: rank, failed: noFailure, known: make(map[uint64]descriptor)}
	if o.page, err = e.domain.register(make([]byte, pageBytes), true); err != nil {
		return nil, err
	}
	if o.pair, err = newQueuePair(e.domain, e.cq, nil, originDepth, creditRequests); err != nil {
		return nil, errors.Join(err, o.page.close())
	}
	return o, nil
}

func (o *origin) closes() uint64 { return atomic.LoadUint64(&words(o.page.mem)[0]) }

// result is where the device puts the old value of an atomic.
func (o *origin) result(number uint64) []byte {
	at := resultsAt + 8*int(number%originDepth)
	return o.page.mem[at : at+8 : at+8]
}

// room reports whether another request can be posted. Called with mu held.
func (o *origin) room() bool { return o.tail-o.head < originDepth }

// post starts a request. Its end is reported if somebody waits for it, if no such
// report is on its way, or if it is time for one: what an unsignalled request holds
// comes back only with a later one. Called with mu held.
//
// Precondition: room, and err is nil.
func (o *origin) post(r *request, local []byte, lkey uint32, en entry, scarce bool) error {
	r.signalled = en.op != 0 || en.signalled || scarce || o.signalled <= o.head || o.tail-o.signalled >= signalEvery
	if err := o.pair.post(r, newWorkID(ofOrigin, o.number, o.tail), local, lkey); err != nil {
		return err
	}
	o.entries[o.tail%originDepth] = en
	o.tail++
	if r.signalled {
		o.signalled = o.tail
	}
	return nil
}

// retire takes note of the end of a request, and of those before it.
func (o *origin) retire(w work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.head + uint64(w.id.number()-uint32(o.head))
	if last >= o.tail {
		return // it was given up already
	}
	for o.head < last {
		o.finish(nil)
	}
	if w.status == 0 {
		o.finish(nil)
		return
	}
	o.fail(o.e.because(w))
	o.failed = min(o.failed, last)
	o.finish(o.err)
}

const noFailure = ^uint64(0)

// finish ends the oldest request. Called with mu held.
func (o *origin) finish(err error) {
	en := &o.entries[o.head%originDepth]
	if err == nil && en.fill != nil {
		copy(en.fill, en.pool.at(en.piece, len(en.fill)))
	}
	if err == nil && en.old != nil {
		*en.old = words(o.result(o.head))[0]
	}
	if en.pool != nil {
		en.pool.put(en.piece)
	}
	if en.op != 0 {
		o.e.arrivals.complete(transport.Completion{Op: en.op, Rank: o.rank, Err: err})
	}
	*en = entry{}
	o.head++
}

// fail ends the connection: what is under way comes back from the device. Called with
// mu held.
func (o *origin) fail(err error) {
	if o.err != nil {
		return
	}
	o.err = err
	if o.pair != nil {
		_ = o.pair.fail()
	}
	_ = o.side.Close() // the peer hears of it
}

// end is fail for who does not hold mu.
func (o *origin) end(err error) {
	o.mu.Lock()
	o.fail(err)
	o.mu.Unlock()
	o.e.advance()
}

// credited takes note of messages that the peer has taken.
func (o *origin) credited(w work) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.status != 0 || o.pair == nil {
		return
	}
	o.credit += int(w.immediate)
	if o.credit > maxCredits {
		o.fail(fmt.Errorf("it gives credit for %d messages, of %d: %w", o.credit, maxCredits, transport.ErrPeerFailed))
		return
	}
	if err := o.pair.receive(w.id); err != nil {
		o.fail(fmt.Errorf("%w: %w", err, transport.ErrPeerFailed))
	}
}

func (o *origin) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err != nil || o.head == o.tail || !o.nudge()
}

// nudge has the end of the last request be known. It reports whether that is to be
// waited for. Called with mu held.
func (o *origin) nudge() bool {
	if o.signalled != o.tail && o.room() {
		return o.post(&request{opcode: opWrite}, nil, 0, entry{signalled: true}, false) == nil
	}
	return true
}

// close frees what the connection has of the device. Called with endpoint.harvesting
// held: nobody takes completions meanwhile.
func (o *origin) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = transport.ErrClosed
	}
	if o.pair == nil {
		return nil
	}
	err := o.pair.close()
	o.pair = nil
	return errors.Join(err, o.page.close())
}
