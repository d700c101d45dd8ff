package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/messages"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/far"
)

// A setup is what a rank is told of its job.
type setup struct {
	rank      int
	hostNames []string // by number; empty or one when there is one host
	host      string   // this rank's
	job       string
	secret    []byte
	boot.Settings
}

// A process is what one rank has once, whatever the number of its communicators.
type process struct {
	rank, size int
	setup      setup
	supervisor supervisor
	mem        *job.Memory
	waiter     *waiting.Waiter
	arena      *arena.Arena
	segments   *segments
	router     *router.Router
	stats      *router.Stats      // nil: nobody wants them
	near       transport.Endpoint // to ranks of this host
	far        *far.Far           // to those of other hosts; nil when there are none
	listening  atomic.Bool
	messages   *messages.Messages
	types      sync.Map        // element types that messages may have, as keys
	departed   []atomic.Int64  // by rank, when it was first seen to have left; 0: not
	ctx        context.Context // ends with close
	cancel     context.CancelFunc
	unique     atomic.Uint32
	pagerMu    sync.Mutex
	pager      io.Closer      // the line to the host's pager; nil: none was needed
	background sync.WaitGroup // goroutines that use all this: close waits for them
	release    func() error   // what else to close, or nil
	left       atomic.Bool
}

func newProcess(s setup, sup supervisor, mem *job.Memory) (*process, error) {
	p := &process{rank: s.rank, size: mem.Size(), setup: s, supervisor: sup, mem: mem, waiter: waiting.New(mem, s.rank)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.arena = arena.New(arena.Config{
		Rank:    s.rank,
		Publish: sup.Publish,
		Reserve: func(bytes int64) (func(), error) { return mem.Reserve(s.rank, bytes) },
		Gone:    p.gone,
	})
	p.segments = newSegments(p)
	if s.Stats {
		p.stats = router.NewStats(p.path)
	}
	p.router = router.New(router.Config{
		Rank: p.rank, Size: p.size,
		Until: p.waiter.Until, Wake: p.waiter.Wake, Failure: mem.Failure, HostName: p.hostName, Dial: p.dial, Stats: p.stats,
	})
	if err := p.openEndpoints(); err != nil {
		p.cancel()
		return nil, errors.Join(err, p.arena.Close())
	}
	p.departed = make([]atomic.Int64, p.size)
	p.openMessages()
	p.router.OpenAt(confirmPort, p.confirmed)
	return p, nil
}

// start returns the communicator of all ranks, and lets the others know that this
// one is there.
func (p *process) start() (*Comm, error) {
	comm, err := p.world()
	if err == nil {
		err = p.announce()
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return comm, nil
}

// hostName is the name of a rank's host, "" if it is this rank's.
func (p *process) hostName(rank int) string {
	if host := p.mem.HostOf(rank); !p.local(rank) && host < len(p.setup.hostNames) {
		return p.setup.hostNames[host]
	}
	return ""
}

// world returns the communicator of all ranks. Its group lives in the job's
// memory, which every rank of the host has from the start, or in this rank's own
// if it shares memory with nobody.
func (p *process) world() (*Comm, error) {
	ranks := make([]int, p.size)
	alone := p.mem.Hosts() > 1
	for rank := range ranks {
		ranks[rank] = rank
		alone = alone && (rank == p.rank || !p.local(rank))
	}
	area := p.mem.Extra()[:group.Size(p.size)]
	if alone {
		var err error
		if area, err = arena.Alloc[byte](p.arena, group.Size(p.size)); err != nil {
			return nil, err
		}
	}
	l := newLink(p, ranks)
	if l != nil {
		l.ports = slices.Repeat([]uint32{worldPort}, p.size)
		if l.leads() {
			l.port = p.router.OpenAt(worldPort, l.deliver)
		}
	}
	return p.newComm("world", area, p.rank, l, ranks, nil)
}

// scratch gives the transport memory that peers can reach.
func (p *process) scratch(bytes int) ([]byte, transport.Remote, error) {
	mem, err := arena.Alloc[byte](p.arena, bytes)
	if err != nil {
		return nil, transport.Remote{}, err
	}
	at, ok := p.arena.Locate(mem)
	if !ok {
		return nil, transport.Remote{}, fmt.Errorf("rank %d: %d bytes of scratch memory: %w", p.rank, bytes, errNotArena)
	}
	return mem, transport.Remote{Key: at.Key, Offset: at.Offset, Len: int64(bytes)}, nil
}

// wait is the transports' way of waiting for something a peer does.
func (p *process) wait(ctx context.Context, peer int, ready func() bool) error {
	return p.waiter.Until(ctx, &peerCondition{ready: ready, process: p, peer: peer})
}

type peerCondition struct {
	ready   func() bool
	process *process
	peer    int
}

func (c *peerCondition) Ready() bool { return c.ready() }

func (c *peerCondition) Err() error {
	if err := c.process.router.Failure(c.peer); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrPeerFailed, err)
	}
	return nil
}

// drainTime bounds how long a rank that leaves tries to send what it has posted:
// that it has broken something, to ranks it was not connected to.
const drainTime = time.Second

// close gives up everything the rank has. What is mapped is unmapped.
func (p *process) close() error {
	p.messages.Close(errLeft)
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	p.router.Drain(ctx)
	cancel()
	p.cancel()
	p.router.Stop()
	err := p.closeEndpoints()
	p.router.Close()
	p.background.Wait()
	p.waiter.Close()
	err = errors.Join(err, p.closePager(), p.segments.close(), p.arena.Close(), p.supervisor.Close())
	if p.release != nil {
		err = errors.Join(err, p.release())
	}
	return err
}
