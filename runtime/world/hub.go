package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/transport"
)

// A hub is the supervisor of an in-process world.
type hub struct {
	mem *job.Memory

	mu       sync.Mutex
	members  int // that have joined and not closed
	segments map[segmentID]*os.File
}

// A segmentID names a memory segment within the job.
type segmentID struct {
	rank int
	key  uint64
}

func newHub(size int) (*hub, error) {
	mem, err := job.Create(size, job.Options{Cores: runtime.GOMAXPROCS(0), Extra: group.Size(size), InProcess: true})
	if err != nil {
		return nil, err
	}
	return &hub{mem: mem, segments: map[segmentID]*os.File{}}, nil
}

func (h *hub) join(rank int) (*Comm, error) {
	h.mu.Lock()
	h.members++
	h.mu.Unlock()
	m := &hubMember{hub: h, rank: rank}
	p, err := newProcess(rank, hostname(), m, h.mem)
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	h.mem.Report(rank, job.Joined, 0)
	return p.world()
}

// hubMember is one rank's side of a hub.
type hubMember struct {
	*hub
	rank int
}

func (m *hubMember) Publish(key uint64, f *os.File, _ int64) error {
	own, err := duplicate(f)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.segments[segmentID{m.rank, key}] = own
	return nil
}

// Open does not wait: in one process, whoever learnt of a key learnt of it after
// it was published.
func (m *hubMember) Open(_ context.Context, rank int, key uint64) (*os.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.segments[segmentID{rank, key}]
	if f == nil {
		return nil, fmt.Errorf("rank %d, segment %d: %w", rank, key, transport.ErrKey)
	}
	return duplicate(f)
}

func (m *hubMember) Leave() error {
	m.mem.Report(m.rank, job.Left, 0)
	return nil
}

func (m *hubMember) Abort(code int, _ string) error {
	m.mem.Report(m.rank, job.Failed, int32(code))
	return nil
}

// Close gives the job's memory and the descriptors up with the last member.
func (m *hubMember) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.members--; m.members > 0 {
		return nil
	}
	for _, f := range m.segments {
		f.Close()
	}
	return m.mem.Close()
}

func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicating %s: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
