//go:build cgo && linux

package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/internal/address"
	"github.com/golaunch/golaunch/transport/internal/handshake"
)

// An endpoint is one rank's end.
type endpoint struct {
	cfg transport.Config
	me  handshake.Identity
	hardware
	pieceBytes int // longest request

	listener *handshake.Listener
	offer    address.Offer
	address  []byte

	ctx     context.Context // ends with Close, and with it every wait
	cancel  context.CancelFunc
	closed  atomic.Bool
	running sync.WaitGroup // the endpoint's goroutines, and Dials

	directory directory
	local     locals
	small     pool
	large     pool
	arrivals  arrivals
	credits   credits
	copies    sync.Pool // of *copied
	watcher   watcher
	waiters   waiters
	gen       atomic.Uint64 // grows whenever something has ended that a call may wait for
	blocked   atomic.Int64  // calls in Config.Wait

	poll    poller     // guarded by poll.mu
	telling sync.Mutex // held while Progress is called: by one goroutine at a time

	mu    sync.Mutex // guards dials, and that running does not grow after Close
	dials []dial     // by rank

	handle     func(work) // dispatch
	harvesting sync.Mutex // held by who takes completions from the queue; guards table
	table      table
}

var (
	_ transport.Endpoint = (*endpoint)(nil)
	_ transport.Rester   = (*endpoint)(nil)
	_ transport.Waker    = (*endpoint)(nil)
)

// hardware is what an endpoint has of a device.
type hardware struct {
	device *device
	domain *domain
	cq     *completionQueue
	srq    *receiveQueue
}

// table is the connections by their numbers, as completions name them.
type table struct {
	gone    bool // the queue is closed
	origins []*origin
	targets []*target
	pairs   map[uint32]*target // by number of the queue pair
	buffers []buffer           // of the receive queue
}

func (p Provider) open(cfg transport.Config) (*endpoint, error) {
	if cfg.Rank < 0 || cfg.Rank >= cfg.Size {
		return nil, fmt.Errorf("there is no such rank in a job of %d", cfg.Size)
	}
	e := &endpoint{cfg: cfg, dials: make([]dial, cfg.Size)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.me = handshake.Identity{
		Secret: p.Secret, Job: p.Job, Version: p.Version, Rank: cfg.Rank, Size: cfg.Size, Timeout: p.Timeout,
	}
	e.handle = e.dispatch
	e.table.pairs = make(map[uint32]*target)
	e.arrivals.init()
	e.copies.New = func() any { return new(copied) }
	if err := e.openDevice(p); err != nil {
		return nil, errors.Join(err, e.closeDevice())
	}
	if err := e.listen(p); err != nil {
		return nil, errors.Join(err, e.closeDevice())
	}
	if !cfg.Watches {
		e.running.Add(1)
		go e.watcher.run()
	}
	e.running.Add(2)
	go e.watcher.heed()
	go e.accept()
	return e, nil
}

// openDevice makes everything of the device that all connections use.
func (e *endpoint) openDevice(p Provider) error {
	lib, err := load()
	if err != nil {
		return err
	}
	names, err := lib.devices()
	if err != nil {
		return err
	}
	at, err := choosePlace(os.DirFS("/sys/class/infiniband"), names, p.Device, p.Interface)
	if err != nil {
		return err
	}
	if e.device, err = openDevice(lib, at); err != nil {
		return fmt.Errorf("device %s: %w", at.device, err)
	}
	if err := e.furnish(cmp.Or(p.buffers, sharedBuffers)); err != nil {
		return fmt.Errorf("device %s: %w", at.device, err)
	}
	return nil
}

func (e *endpoint) furnish(buffers int) (err error) {
	limits := &e.device.limits
	e.pieceBytes = min(maxPiece, int(e.device.port.max_msg))
	shares, err := creditLimits(int(limits.max_srq_wr), e.cfg.Size, buffers)
	if err != nil {
		return err
	}
	e.credits.ledger.Limits = shares
	if e.domain, err = newDomain(e.device); err != nil {
		return err
	}
	entries := min(int(limits.max_cqe), 2*e.cfg.Size*(originDepth+targetDepth+maxCredits))
	if e.cq, err = newCompletionQueue(e.device, entries); err != nil {
		return err
	}
	if e.srq, err = newReceiveQueue(e.domain, shares.Greatest(e.cfg.Size)); err != nil {
		return err
	}
	if err = e.directory.open(e.domain); err != nil {
		return err
	}
	if err = e.small.open(e.domain, smallBytes, smallCount); err != nil {
		return err
	}
	if err = e.large.open(e.domain, largeBytes, largeCount); err != nil {
		return err
	}
	return e.watcher.open(e)
}

// listen opens the sockets over which connections are arranged.
func (e *endpoint) listen(p Provider) error {
	at, offer, err := address.Local(p.Interface, p.Loopback)
	if err != nil {
		return err
	}
	if e.listener, err = handshake.Listen(e.me, at); err != nil {
		return err
	}
	offer.Port = e.listener.Addrs()[0].Port()
	e.offer = offer
	if e.address, err = address.EncodeEndpoint(e.cfg.Rank, offer); err != nil {
		_ = e.listener.Close()
	}
	return err
}

// Addr returns the rank and where it listens.
func (e *endpoint) Addr() []byte { return append([]byte(nil), e.address...) }

// drainTime bounds how long Close waits for peers' acknowledgements.
const drainTime = time.Second

// Close waits until what was sent has arrived, says goodbye to every peer, and ends
// every connection.
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
	e.drain()
	e.sayGoodbye()
	e.watcher.close()
	e.running.Wait()
	err := e.closeDevice()
	e.ring()
	if err != nil {
		return fmt.Errorf("verbs: rank %d: close: %w", e.cfg.Rank, err)
	}
	return nil
}

// drain waits, but not for long, until nothing is under way from this rank.
func (e *endpoint) drain() {
	for end := time.Now().Add(drainTime); !e.idle() && time.Now().Before(end); {
		e.harvest()
		runtime.Gosched()
	}
}

func (e *endpoint) idle() bool {
	for _, o := range e.connected() {
		if !o.idle() {
			return false
		}
	}
	return true
}

// connected lists the connections from this rank.
func (e *endpoint) connected() []*origin {
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	return e.table.origins[:len(e.table.origins):len(e.table.origins)]
}

// incoming lists the connections to this rank.
func (e *endpoint) incoming() []*target {
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	return e.table.targets[:len(e.table.targets):len(e.table.targets)]
}

func (e *endpoint) sayGoodbye() {
	for _, o := range e.connected() {
		sayGoodbye(o.side)
	}
	for _, t := range e.incoming() {
		sayGoodbye(t.side)
	}
}

// closeDevice takes down what there is, connections first. Nobody posts or polls any
// more when it has returned.
func (e *endpoint) closeDevice() error {
	e.poll.mu.Lock()
	defer e.poll.mu.Unlock()
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	e.table.gone = true
	var err error
	for _, o := range e.table.origins {
		err = errors.Join(err, o.close())
	}
	for _, t := range e.table.targets {
		err = errors.Join(err, t.close())
	}
	err = errors.Join(err, e.local.closeAll(), e.directory.close(), e.small.close(), e.large.close())
	if e.srq != nil && e.srq.c != nil {
		err = errors.Join(err, e.srq.close())
	}
	for _, b := range e.table.buffers {
		if b.first {
			err = errors.Join(err, b.memory.close())
		}
	}
	return errors.Join(err, e.hardware.close())
}

func (h *hardware) close() (err error) {
	if h.cq != nil && h.cq.c != nil {
		err = h.cq.close()
	}
	if h.domain != nil && h.domain.c != nil {
		err = errors.Join(err, h.domain.close())
	}
	if h.device != nil && h.device.c != nil {
		err = errors.Join(err, h.device.close())
	}
	return err
}
