package transporttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A Job serves the endpoints of one job whose ranks all live in this process:
// what runtime/world does for real ones.
type Job struct {
	ranks  []jobRank
	memory func(n int) []byte
	why    string // not "": why a steady state may allocate
	events bell   // rings when a rank begins to wait
	// watching: the ranks wait for their endpoints' descriptors, and poll.
	watching bool
}

type jobRank struct {
	bell     bell
	waiting  atomic.Int64
	failed   atomic.Bool
	endpoint transport.Endpoint // set by NewWorld
	rung     int                // if the rank is watching: an eventfd, for what rings
	// progress is called by Config.Progress, if it is set.
	progress atomic.Pointer[func()]

	mu       sync.Mutex
	segments map[uint64][]byte
	scratch  int // bytes asked for
}

// guard is what lies before and after every piece of memory a Job hands out, so
// that offsets are not 0 and an access beside it hits something.
const guard = 64

// errNobodyRang ends a Wait that would hang a test for good.
var errNobodyRang = errors.New("nobody made the wait end")

// NewJob makes the services for size ranks. memory returns zeroed memory aligned
// to 64 bytes; nil: the Go heap.
func NewJob(size int, memory func(n int) []byte) *Job {
	if memory == nil {
		memory = heapMemory
	}
	j := &Job{ranks: make([]jobRank, size), memory: memory}
	j.events.init()
	for i := range j.ranks {
		j.ranks[i].bell.init()
		j.ranks[i].segments = make(map[uint64][]byte)
	}
	return j
}

// heapMemory rounds up to a power of two, which the allocator aligns to itself.
func heapMemory(n int) []byte {
	size := 64
	for size < n {
		size *= 2
	}
	return make([]byte, size)[:n:n]
}

// Config returns what an endpoint of that rank is opened with.
func (j *Job) Config(rank int) transport.Config {
	return transport.Config{
		Rank: rank, Size: len(j.ranks),
		Segment: j.segment,
		Scratch: func(n int) ([]byte, transport.Remote, error) { return j.scratch(rank, n) },
		Ring:    func(r int) { j.ranks[r].ring() },
		Wait: func(ctx context.Context, peer int, ready func() bool) error {
			return j.wait(ctx, rank, peer, ready)
		},
		Watches: j.watching,
		Progress: func() {
			if f := j.ranks[rank].progress.Load(); f != nil {
				(*f)()
			}
		},
	}
}

// Alloc returns memory of a rank that may be registered, and its place.
func (j *Job) Alloc(rank, n int) (key uint64, offset int64, mem []byte) {
	r := &j.ranks[rank]
	segment := j.memory(n + 2*guard)
	r.mu.Lock()
	defer r.mu.Unlock()
	key = uint64(1000*(rank+1) + len(r.segments))
	r.segments[key] = segment
	return key, guard, segment[guard : guard+n : guard+n]
}

// Fail makes every Wait for that rank end with transport.ErrPeerFailed.
func (j *Job) Fail(rank int) {
	j.ranks[rank].failed.Store(true)
	for i := range j.ranks {
		j.ranks[i].bell.ring()
	}
}

// AwaitBlocked returns when n calls of that rank are in Config.Wait.
func (j *Job) AwaitBlocked(ctx context.Context, rank, n int) error {
	return j.awaitBlocked(ctx, rank, n, func() bool { return true })
}

// awaitBlocked returns when they are, and so is something else that they wait behind.
func (j *Job) awaitBlocked(ctx context.Context, rank, n int, also func() bool) error {
	err := j.events.until(ctx, func() (bool, error) { return also() && j.ranks[rank].waiting.Load() >= int64(n), nil })
	if err != nil {
		return fmt.Errorf("rank %d: %d calls blocked of %d expected: %w", rank, j.ranks[rank].waiting.Load(), n, err)
	}
	return nil
}

// ScratchBytes is how much scratch memory a rank's endpoint has asked for.
func (j *Job) ScratchBytes(rank int) int {
	j.ranks[rank].mu.Lock()
	defer j.ranks[rank].mu.Unlock()
	return j.ranks[rank].scratch
}

func (j *Job) segment(rank int, key uint64) ([]byte, error) {
	if rank < 0 || rank >= len(j.ranks) {
		return nil, fmt.Errorf("rank %d does not exist: %w", rank, transport.ErrKey)
	}
	r := &j.ranks[rank]
	r.mu.Lock()
	defer r.mu.Unlock()
	if segment, ok := r.segments[key]; ok {
		return segment, nil
	}
	return nil, fmt.Errorf("rank %d has no segment %#x: %w", rank, key, transport.ErrKey)
}

func (j *Job) scratch(rank, n int) ([]byte, transport.Remote, error) {
	key, offset, mem := j.Alloc(rank, n)
	j.ranks[rank].mu.Lock()
	defer j.ranks[rank].mu.Unlock()
	j.ranks[rank].scratch += n
	return mem, transport.Remote{Key: key, Offset: offset, Len: int64(n)}, nil
}

func (j *Job) wait(ctx context.Context, rank, peer int, ready func() bool) error {
	if ready() {
		return nil
	}
	r := &j.ranks[rank]
	r.waiting.Add(1)
	defer r.waiting.Add(-1)
	j.events.ring()
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience(), errNobodyRang)
	defer cancel()
	if j.watching {
		return r.watchUntil(ctx, nil, func([]transport.Completion) bool { return ready() })
	}
	return r.bell.until(ctx, func() (bool, error) {
		if !ready() && j.ranks[peer].failed.Load() {
			return false, fmt.Errorf("rank %d: %w", peer, transport.ErrPeerFailed)
		}
		return ready(), nil
	})
}
