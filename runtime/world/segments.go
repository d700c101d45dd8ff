package world

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/transport"
)

// segments are the peers' memory segments that this process has mapped. A
// segment stays mapped until the rank leaves: its key never means another one.
type segments struct {
	process *process
	mu      sync.Mutex
	mapped  map[segmentID][]byte
}

func newSegments(p *process) *segments {
	return &segments{process: p, mapped: map[segmentID][]byte{}}
}

// of returns the mapping of a rank's segment, for a transport.
func (s *segments) of(rank int, key uint64) ([]byte, error) {
	return s.segment(s.process.ctx, rank, key)
}

// segment returns the mapping of a rank's segment, this rank's own ones included.
func (s *segments) segment(ctx context.Context, rank int, key uint64) ([]byte, error) {
	if rank == s.process.rank {
		return s.process.arena.Segment(key)
	}
	if !s.process.local(rank) {
		return nil, fmt.Errorf("rank %d is on host %q: %w", rank, s.process.hostName(rank), transport.ErrKey)
	}
	id := segmentID{rank, key}
	s.mu.Lock()
	mem := s.mapped[id]
	s.mu.Unlock()
	if mem != nil {
		return mem, nil
	}
	mem, err := s.open(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("mapping memory of rank %d: %w", rank, err)
	}
	return s.keep(id, mem)
}

// at returns n bytes at an extent of a rank's arena. The numbers may come from
// that rank. ctx bounds how long it waits for a segment to be published.
func (s *segments) at(ctx context.Context, rank int, e arena.Extent, n int64) ([]byte, error) {
	mem, err := s.segment(ctx, rank, e.Key)
	if err != nil {
		return nil, err
	}
	if _, err := (transport.Remote{Key: e.Key, Len: int64(len(mem))}).Slice(e.Offset, n); err != nil {
		return nil, fmt.Errorf("memory of rank %d, segment %d: %w", rank, e.Key, err)
	}
	return mem[e.Offset : e.Offset+n : e.Offset+n], nil
}

func (s *segments) open(ctx context.Context, id segmentID) ([]byte, error) {
	f, err := s.process.supervisor.Open(ctx, id.rank, id.key)
	if err != nil {
		return nil, err
	}
	mem, err := arena.MapPeer(f)
	return mem, errors.Join(err, f.Close())
}

// keep records a mapping; if another goroutine was faster, its one is used.
func (s *segments) keep(id segmentID, mem []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.mapped[id]; first != nil {
		return first, arena.UnmapPeer(mem)
	}
	s.mapped[id] = mem
	return mem, nil
}

func (s *segments) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for id, mem := range s.mapped {
		err = errors.Join(err, arena.UnmapPeer(mem))
		delete(s.mapped, id)
	}
	return err
}
