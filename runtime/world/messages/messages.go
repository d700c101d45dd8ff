package messages

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/crossmem"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

// Port is the number of the port that messages of all ranks use.
const Port = 2

// Config is what Open is told about the rank.
type Config struct {
	Rank, Size int
	Router     *router.Router
	// Until waits for a condition, polling meanwhile.
	Until func(ctx context.Context, c waiting.Condition) error
	// Spins says that this rank may spin: it has a core for itself.
	Spins bool
	// Wake has whoever waits in Until look again.
	Wake func()
	// Ring has a rank that shares memory with this one look again, if it sleeps.
	Ring func(rank int)
	// Local reports whether a rank shares memory with this one.
	Local func(rank int) bool
	// Failure returns why nothing more will come from a rank, nil as long as something
	// may. What has come is delivered first.
	Failure func(rank int) error
	// Died returns why a rank is lost: it ended without having left the job.
	Died func(rank int) error
	// Blind forbids to touch other processes' memory where it is not mapped.
	Blind bool
	// Memory is this rank's arena, and those of the ranks it shares memory with.
	Memory Memory
}

// Memory is what messages need of arenas.
type Memory interface {
	// Alloc returns zeroed memory, aligned to 64 bytes, and Free gives it back.
	Alloc(bytes int) ([]byte, error)
	Free(mem []byte) error
	// Locate says where memory lies; false: not in this rank's arena.
	Locate(mem []byte) (rendezvous.Place, bool)
	// At maps memory of a rank that shares memory with this one. The place may have
	// been invented by that rank.
	At(rank int, p rendezvous.Place) ([]byte, error)
	// Bounces reports whether memory is reached by a rank through memory of the arena
	// only: a device would have to register it for every message.
	Bounces(rank int, mem []byte) bool
	// Register makes memory, the arena's or the heap's, accessible to a rank.
	Register(rank int, mem []byte) (transport.Region, error)
	// Land makes memory a landing for a rank that can have one.
	Land(rank int, mem []byte) (transport.Landing, error)
}

// Messages are one rank's. Methods may be called from any goroutine.
type Messages struct {
	cfg     Config
	port    *router.Port
	pid     uint64
	token   *crossmem.Token
	reach   []reach   // by rank
	spare   sync.Pool // of *Request
	frames  frames
	closing atomic.Bool // closed is set, and stays as it is

	sent atomic.Uint64 // 1: a short message, and none was received since

	// Guarded by the router's turn to poll.
	held *Request // the direct receive under way
	idle *Request // not in use, for the next one

	mu       sync.Mutex
	closed   error // why nothing can be sent or received any more
	empty    chan struct{}
	quiet    sync.Once // closes empty, when closed is set and there are no requests
	boxes    map[uint64]*Box
	last     *Box // that a message was for
	requests requests
	words    words
	stages   stages
	seats    seats
	copies   copies
	porches  porches
	workers  sync.WaitGroup
	lost     []atomic.Pointer[loss] // by rank
}

// Open begins to take messages.
func Open(cfg Config) *Messages {
	m := &Messages{cfg: cfg, pid: uint64(os.Getpid()), boxes: map[uint64]*Box{}, empty: make(chan struct{}), reach: make([]reach, cfg.Size),
		lost: make([]atomic.Pointer[loss], cfg.Size)}
	m.token = crossmem.NewToken(tokenOf(cfg.Rank))
	m.words.m, m.stages.m = m, m
	m.porches.init(cfg.Size)
	m.frames.init()
	m.spare.New = func() any { return new(Request) }
	m.port = cfg.Router.OpenAt(Port, m.handle)
	return m
}

// Close ends every request with err. Endpoints are still open: a piece that a peer
// copies just now is waited for.
func (m *Messages) Close(err error) {
	m.mu.Lock()
	if m.closed == nil {
		m.closed = err
	}
	m.closing.Store(true)
	for _, b := range m.boxes {
		b.dropReceives(err)
	}
	idle := m.hurry()
	if m.requests.count == 0 {
		m.quiet.Do(func() { close(m.empty) })
	}
	m.mu.Unlock()
	m.cfg.Wake()
	over, cancel := context.WithCancelCause(context.Background())
	cancel(err)
	for _, r := range idle {
		m.finish(over, r)
	}
	<-m.empty
	m.workers.Wait()
	m.port.Close()
	m.porches.close()
	m.token.Close()
}

// hurry ends what attends to requests, and returns those that nobody attends to:
// the caller does. Called with mu held.
func (m *Messages) hurry() (idle []*Request) {
	for _, r := range m.requests.all {
		switch {
		case r == nil:
		case r.orphan: // the endpoint closes before the memory goes
			m.requests.remove(r)
		case !r.attended:
			r.attended = true
			idle = append(idle, r)
		case r.stop != nil:
			r.stop(m.closed)
		}
	}
	for len(m.seats.parked) > 0 {
		m.seats.wake(m.seats.parked[0])
	}
	return idle
}

// dropReceives ends the receives that are posted. Called with mu held.
func (b *Box) dropReceives(err error) {
	for _, t := range b.matcher.Receives() {
		if r, ok := b.matcher.Cancel(t); ok {
			r.end(Status{}, err)
		}
	}
}

// A Box is what one communicator has of messages.
type Box struct {
	m       *Messages
	context uint64
	name    string
	me      int
	ranks   []int       // member -> rank
	members map[int]int // rank -> member; nil when they are the same
	matcher matcher
	ended   atomic.Bool
	express []atomic.Pointer[express] // by member, once a message was sent; nil: there is none
}

// Box makes a communicator's box. context names the communicator at all its
// members and nowhere else. Every member has made its box before any of them
// sends.
func (m *Messages) Box(context uint64, name string, me int, ranks []int) *Box {
	b := &Box{m: m, context: context, name: name, me: me, ranks: ranks,
		express: make([]atomic.Pointer[express], len(ranks))}
	b.matcher.init()
	for member, rank := range ranks {
		if member != rank && b.members == nil {
			b.members = make(map[int]int, len(ranks))
		}
	}
	if b.members != nil {
		for member, rank := range ranks {
			b.members[rank] = member
		}
	}
	m.mu.Lock()
	m.boxes[context] = b
	m.mu.Unlock()
	return b
}

// Close ends the box. Messages that were not received are dropped.
func (b *Box) Close(err error) {
	m := b.m
	m.mu.Lock()
	defer m.mu.Unlock()
	b.ended.Store(true)
	delete(m.boxes, b.context)
	if m.last == b {
		m.last = nil
	}
	b.dropReceives(err)
}

// member translates a rank; false: it is none of the communicator's.
func (b *Box) member(rank int) (int, bool) {
	if b.members == nil {
		return rank, rank < len(b.ranks)
	}
	member, ok := b.members[rank]
	return member, ok
}

// box returns the box with a context, nil if there is none. Called with mu held.
func (m *Messages) box(context uint64) *Box {
	if b := m.last; b != nil && b.context == context {
		return b
	}
	b := m.boxes[context]
	if b != nil {
		m.last = b
	}
	return b
}

// tokenOf is a word that other processes are unlikely to have at the same place.
func tokenOf(rank int) uint64 { return 0x6c67_6d73_6700_0000 ^ uint64(rank+1)*0x9e37_79b9_7f4a_7c15 }
