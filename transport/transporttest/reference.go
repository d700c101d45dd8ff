package transporttest

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// Reference is the contract as the simplest code that keeps it: one lock for a
// whole job, whose ranks live in this process. It is what the suite is tested on,
// and what to read before writing a transport. A Reference serves one job.
type Reference struct {
	mu    sync.Mutex // guards everything below, in every endpoint
	ranks map[int]*referenceEndpoint
}

// NewReference returns the transport of one job.
func NewReference() *Reference { return &Reference{ranks: make(map[int]*referenceEndpoint)} }

// Name returns "reference".
func (*Reference) Name() string { return "reference" }

// Open makes the endpoint of one rank.
func (r *Reference) Open(cfg transport.Config) (transport.Endpoint, error) {
	e := &referenceEndpoint{
		job: r, cfg: cfg,
		regions: make(map[uint64][]byte), from: make([]*messageQueue, cfg.Size),
		done: make([]transport.Completion, 0, 2*transport.MinOutstanding),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	if cfg.Watches {
		var err error
		if e.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ranks[cfg.Rank] = e
	return e, nil
}

// A referenceEndpoint is guarded by its job's lock.
type referenceEndpoint struct {
	job    *Reference
	cfg    transport.Config
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	closed atomic.Bool // written under the lock; read also by waiting calls

	event   int // if the rank watches it: not 0 while there is something for Poll
	regions map[uint64][]byte
	lastKey uint64
	done    []transport.Completion // bounded by its capacity
	from    []*messageQueue        // by sender, made by its first message
}

// A messageQueue holds what one rank has sent to another.
//
// Invariant: 0 <= lent <= count <= len(buffers); the lent ones were delivered by
// the last Poll.
type messageQueue struct {
	buffers            [2 * transport.MinCredit][transport.MaxMessage]byte
	lengths            [2 * transport.MinCredit]int
	first, lent, count int
}

func (e *referenceEndpoint) Addr() []byte { return fmt.Appendf(nil, "reference %d", e.cfg.Rank) }

func (e *referenceEndpoint) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
	segment, err := e.cfg.Segment(e.cfg.Rank, key)
	if err != nil {
		return nil, err
	}
	place, err := transport.Remote{Len: int64(len(segment))}.Slice(offset, int64(len(mem)))
	if err != nil {
		return nil, err
	}
	if len(mem) > 0 && &segment[place.Offset] != &mem[0] {
		return nil, fmt.Errorf("rank %d: the memory is not that of segment %#x", e.cfg.Rank, key)
	}
	e.job.mu.Lock()
	defer e.job.mu.Unlock()
	if e.closed.Load() {
		return nil, transport.ErrClosed
	}
	e.lastKey += 2
	e.regions[e.lastKey] = mem
	return &referenceRegion{e, transport.Remote{Key: e.lastKey, Len: int64(len(mem))}}, nil
}

type referenceRegion struct {
	endpoint *referenceEndpoint
	remote   transport.Remote
}

func (r *referenceRegion) Remote() transport.Remote { return r.remote }

func (r *referenceRegion) Close() error {
	r.endpoint.job.mu.Lock()
	defer r.endpoint.job.mu.Unlock()
	delete(r.endpoint.regions, r.remote.Key)
	return nil
}

func (e *referenceEndpoint) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	e.job.mu.Lock()
	defer e.job.mu.Unlock()
	peer := e.job.ranks[rank]
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case e.closed.Load():
		return nil, transport.ErrClosed
	case peer == nil || string(addr) != string(peer.Addr()):
		return nil, fmt.Errorf("rank %d: %q is not its address", rank, addr)
	}
	return newReferenceConn(e, peer), nil
}

// Poll takes back what the last one lent, then delivers completions and messages.
func (e *referenceEndpoint) Poll(done []transport.Completion) (int, error) {
	e.job.mu.Lock()
	defer e.job.mu.Unlock()
	if e.closed.Load() {
		return 0, transport.ErrClosed
	}
	defer e.calm()
	n := copy(done, e.done)
	e.done = e.done[:copy(e.done, e.done[n:])]
	if n > 0 {
		e.cfg.Ring(e.cfg.Rank)
	}
	for rank, q := range e.from {
		if q == nil {
			continue
		}
		if q.takeBack() {
			e.cfg.Ring(rank)
		}
		for n < len(done) && q.lent < q.count {
			done[n] = transport.Completion{Rank: rank, Message: q.lend()}
			n++
		}
	}
	return n, nil
}

// Descriptor is readable while there is something for Poll.
func (e *referenceEndpoint) Descriptor() int { return e.event }

// awake says that there is something for Poll.
func (e *referenceEndpoint) awake() {
	switch {
	case !e.cfg.Watches:
		e.cfg.Ring(e.cfg.Rank)
	case !e.closed.Load():
		_, _ = unix.Write(e.event, binary.NativeEndian.AppendUint64(nil, 1))
	}
}

// calm says that there is nothing any more, if it is so.
func (e *referenceEndpoint) calm() {
	left := len(e.done) > 0
	for _, q := range e.from {
		left = left || q != nil && q.lent < q.count
	}
	if e.cfg.Watches && !left {
		var count [8]byte
		_, _ = unix.Read(e.event, count[:])
	}
}

func (q *messageQueue) takeBack() bool {
	took := q.lent > 0
	q.first, q.count, q.lent = (q.first+q.lent)%len(q.buffers), q.count-q.lent, 0
	return took
}

func (q *messageQueue) lend() []byte {
	i := (q.first + q.lent) % len(q.buffers)
	q.lent++
	return q.buffers[i][:q.lengths[i]]
}

// add copies msg.
//
// Precondition: a buffer is free.
func (q *messageQueue) add(msg []byte) {
	i := (q.first + q.count) % len(q.buffers)
	q.lengths[i] = copy(q.buffers[i][:], msg)
	q.count++
}

func (e *referenceEndpoint) Close() error {
	e.job.mu.Lock()
	first := !e.closed.Swap(true)
	e.job.mu.Unlock()
	e.cancel()
	if first && e.cfg.Watches {
		_ = unix.Close(e.event)
	}
	for rank := range e.cfg.Size {
		e.cfg.Ring(rank)
	}
	return nil
}
