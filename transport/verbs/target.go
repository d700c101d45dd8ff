//go:build cgo && linux

package verbs

import (
	"fmt"
	"net"
	"sync"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/verbs/internal/credit"
)

// targetDepth is how many requests are under way from this end: credit, and counts of
// closed regions.
const targetDepth = 16

// A target is the connection from a peer to this rank, as far as this rank must do
// something: take the messages, give back credit, tell what was closed. All else the
// device does by itself.
type target struct {
	e       *endpoint
	rank    int
	side    net.Conn
	number  int // in the endpoint's table
	peer    greeting
	credits int         // messages that the peer may send at first
	account credit.Peer // guarded by endpoint.credits

	mu         sync.Mutex
	pair       *queuePair // nil: closed
	head, tail uint64     // requests that have ended, and begun
	owed       int        // credit that the peer was not told of, as there was no room
	err        error      // why nothing more will come
}

// A buffer is one of the receive queue.
type buffer struct {
	memory *memory
	at     int
	first  bool // of its memory
}

func (b *buffer) mem(n int) []byte {
	return b.memory.mem[b.at : b.at+n : b.at+transport.MaxMessage]
}

// post starts a request, if the connection lives and there is room. It returns how
// many have begun.
func (t *target) post(r *request, local []byte, lkey uint32) (begun uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, true
	}
	if t.tail-t.head == targetDepth {
		return 0, false
	}
	return t.start(r, local, lkey), true
}

// start is post where err is nil and there is room. Called with mu held.
func (t *target) start(r *request, local []byte, lkey uint32) (begun uint64) {
	r.signalled = true
	if err := t.pair.post(r, newWorkID(ofTarget, t.number, t.tail), local, lkey); err != nil {
		t.fail(fmt.Errorf("%w: %w", err, transport.ErrPeerFailed))
		return 0
	}
	t.tail++
	return t.tail
}

// giveCredit tells the peer that n messages more may be sent.
func (t *target) giveCredit(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.owed += n
	t.pay()
}

// pay tells of what is owed, or leaves it to retire. Called with mu held.
func (t *target) pay() {
	if t.owed > 0 && t.err == nil && t.tail-t.head < targetDepth {
		t.start(&request{opcode: opCredit, immediate: uint32(t.owed)}, nil, 0)
		t.owed = 0
	}
}

// tellCloses writes the count of closed regions to the peer. What it returns is for
// await.
func (t *target) tellCloses() uint64 {
	d := &t.e.directory
	for {
		seen := t.e.gen.Load()
		r := request{opcode: opWrite, remote: t.peer.address, rkey: t.peer.rkey}
		if begun, ok := t.post(&r, d.closes(), d.memory.lkey); ok {
			return begun
		}
		if t.e.wait(t.rank, seen) != nil {
			return 0
		}
	}
}

// await returns when so many requests have ended, or the connection has.
func (t *target) await(begun uint64) {
	for {
		seen := t.e.gen.Load()
		t.mu.Lock()
		ended := t.head >= begun || t.err != nil
		t.mu.Unlock()
		if ended || t.e.wait(t.rank, seen) != nil {
			return
		}
	}
}

func (t *target) retire(w work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head += uint64(w.id.number()-uint32(t.head)) + 1
	if w.status != 0 && t.err == nil {
		t.fail(t.e.because(w))
	}
	t.pay()
}

// fail ends the connection, and has Poll say so behind the messages that have come.
// Called with mu held.
func (t *target) fail(err error) {
	if t.err != nil {
		return
	}
	t.err = err
	if t.pair != nil {
		_ = t.pair.fail()
	}
	_ = t.side.Close() // the peer hears of it
	t.e.arrivals.receive(message{from: t, over: fmt.Errorf("verbs: rank %d: nothing more will come: %w", t.rank, err)})
}

// end is fail for who does not hold mu.
func (t *target) end(err error) {
	t.mu.Lock()
	t.fail(err)
	t.mu.Unlock()
	t.e.advance()
}

// close is called with endpoint.harvesting held.
func (t *target) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = transport.ErrClosed
	}
	if t.pair == nil {
		return nil
	}
	err := t.pair.close()
	t.pair = nil
	return err
}
