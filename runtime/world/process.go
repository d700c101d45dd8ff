package world

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/transport"
)

// A process is what one rank has once, whatever the number of its communicators.
type process struct {
	rank, size int
	host       string
	supervisor supervisor
	mem        *job.Memory
	waiter     *waiting.Waiter
	arena      *arena.Arena
	segments   *segments
	endpoint   transport.Endpoint
	release    func() error // what else to close, or nil
	left       atomic.Bool
}

func newProcess(rank int, host string, s supervisor, mem *job.Memory) (*process, error) {
	p := &process{rank: rank, size: mem.Size(), host: host, supervisor: s, mem: mem, waiter: waiting.New(mem, rank)}
	p.arena = arena.New(arena.Config{
		Rank:    rank,
		Publish: s.Publish,
		Reserve: func(bytes int64) (func(), error) { return mem.Reserve(rank, bytes) },
	})
	p.segments = newSegments(p)
	endpoint, err := openEndpoint(p)
	if err != nil {
		return nil, errors.Join(err, p.arena.Close())
	}
	p.endpoint = endpoint
	if err := mem.SetAddress(rank, endpoint.Addr()); err != nil {
		return nil, errors.Join(err, p.endpoint.Close(), p.arena.Close())
	}
	return p, nil
}

// world returns the communicator of all ranks. Its group lives in the job's
// memory, which every rank has from the start.
func (p *process) world() (*Comm, error) {
	ranks := make([]int, p.size)
	for i := range ranks {
		ranks[i] = i
	}
	return p.newComm("world", p.mem.Extra()[:group.Size(p.size)], p.rank, ranks, nil)
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

// register makes memory of the arena accessible to peers through the transport.
func (p *process) register(mem []byte) (transport.Region, error) {
	at, ok := p.arena.Locate(mem)
	if !ok {
		return nil, fmt.Errorf("rank %d: registering %d bytes: %w", p.rank, len(mem), errNotArena)
	}
	return p.endpoint.Register(at.Key, at.Offset, mem)
}

// mapRemote maps registered memory of a rank. It has published its address: its
// Remote reached us.
func (p *process) mapRemote(rank int, r transport.Remote) ([]byte, error) {
	mapper, ok := p.endpoint.(transport.Mapper)
	if !ok {
		return nil, fmt.Errorf("rank %d: its memory cannot be mapped by this transport", rank)
	}
	if _, err := p.endpoint.Dial(context.Background(), rank, p.mem.Address(rank)); err != nil {
		return nil, err
	}
	mem, ok := mapper.Map(rank, r)
	if !ok {
		return nil, fmt.Errorf("rank %d: mapping %d bytes at offset %d of its region %#x failed", rank, r.Len, r.Offset, r.Key)
	}
	return mem, nil
}

// wait is the transport's way of waiting for something a peer does.
func (p *process) wait(ctx context.Context, peer int, ready func() bool) error {
	return p.waiter.Until(ctx, &peerCondition{ready: ready, mem: p.mem, peer: peer})
}

type peerCondition struct {
	ready func() bool
	mem   *job.Memory
	peer  int
}

func (c *peerCondition) Ready() bool { return c.ready() }

func (c *peerCondition) Err() error {
	if err := c.mem.Failure(c.peer); err != nil {
		return fmt.Errorf("%w: %w", transport.ErrPeerFailed, err)
	}
	return nil
}

// close gives up everything the rank has. What is mapped is unmapped.
func (p *process) close() error {
	err := p.endpoint.Close()
	p.waiter.Close()
	err = errors.Join(err, p.segments.close(), p.arena.Close(), p.supervisor.Close())
	if p.release != nil {
		err = errors.Join(err, p.release())
	}
	return err
}
