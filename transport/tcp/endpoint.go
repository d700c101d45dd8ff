package tcp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
)

// An endpoint is one rank's end.
type endpoint struct {
	cfg         transport.Config
	me          handshake.Identity
	timeout     time.Duration
	encrypt     bool
	pieceBytes  int // longest payload of one frame
	inlineBytes int // longest one that is copied behind its header

	listener *handshake.Listener
	offer    address.Offer
	address  []byte

	ctx     context.Context // ends with Close, and with it every wait
	cancel  context.CancelFunc
	closed  atomic.Bool
	running sync.WaitGroup // the endpoint's goroutines

	regions     regions
	peers       []atomic.Pointer[peer] // by rank, once known
	arrivals    arrivals
	watcher     watcher
	sendBuffers buffers
	chunks      buffers
	pipes       pipes
	waiters     waiters
	blocked     atomic.Int64 // calls in Config.Wait

	poll    poller     // guarded by poll.mu
	telling sync.Mutex // held while Progress is called: by one goroutine at a time

	mu sync.Mutex // guards how far connections have been made
}

var _ transport.Endpoint = (*endpoint)(nil)

func makePeers(size int) []atomic.Pointer[peer] { return make([]atomic.Pointer[peer], size) }

// Addr returns the rank and where it listens.
func (e *endpoint) Addr() []byte { return append([]byte(nil), e.address...) }

// Dial connects to a rank unless it has connected to this one.
func (e *endpoint) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	p, err := e.dial(ctx, rank, addr)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d: dial: %w", rank, err)
	}
	return p.newConn(), nil
}

func (e *endpoint) dial(ctx context.Context, rank int, addr []byte) (*peer, error) {
	if e.closed.Load() {
		return nil, transport.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if rank < 0 || rank >= e.cfg.Size {
		return nil, fmt.Errorf("there are ranks 0 to %d", e.cfg.Size-1)
	}
	offer, err := address.DecodeEndpoint(rank, addr)
	if err != nil {
		return nil, err
	}
	p := e.peerAt(rank)
	if p.self {
		return p, nil
	}
	return p, p.connect(ctx, offer)
}

// Close says goodbye to every peer and ends every connection.
func (e *endpoint) Close() error {
	e.mu.Lock() // whoever starts a goroutine has it: running grows no more
	again := e.closed.Swap(true)
	e.mu.Unlock()
	if again {
		e.running.Wait()
		return nil
	}
	e.cancel()
	_ = e.listener.Close()
	e.regions.removeAll()
	e.sayGoodbye()
	e.watcher.close()
	e.running.Wait()
	e.pipes.close()
	e.ring()
	return nil
}
