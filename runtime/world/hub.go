package world

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/transport"
)

// A hub is the supervisor of an in-process world, on all of its hosts.
type hub struct {
	mems   []*job.Memory // by host
	hosts  []int         // by rank
	names  []string      // by host
	secret []byte
	pagers []boot.PagerProcess // by host

	mu       sync.Mutex
	members  int // that have joined and not closed
	segments map[segmentID]*os.File
}

// A segmentID names a memory segment within the job.
type segmentID struct {
	rank int
	key  uint64
}

func newHub(hosts, ranksPerHost int) (*hub, error) {
	h := &hub{segments: map[segmentID]*os.File{}, secret: make([]byte, 32)}
	rand.Read(h.secret)
	size := hosts * ranksPerHost
	for rank := range size {
		h.hosts = append(h.hosts, rank/ranksPerHost)
	}
	h.pagers = make([]boot.PagerProcess, hosts)
	for host := range hosts {
		h.names = append(h.names, hostname())
		if hosts > 1 {
			h.names[host] += fmt.Sprintf("-%d", host)
		}
	}
	for host := range hosts {
		mem, err := job.Create(size, job.Options{
			Cores: runtime.GOMAXPROCS(0), Sharers: size, Hosts: h.hosts, Host: host, Extra: group.Size(size), InProcess: true,
		})
		if err != nil {
			return nil, errors.Join(err, h.close())
		}
		mem.SetHostNames(h.names)
		h.mems = append(h.mems, mem)
	}
	return h, nil
}

func (h *hub) join(rank int) (*Comm, error) {
	h.mu.Lock()
	h.members++
	h.mu.Unlock()
	m := &hubMember{hub: h, rank: rank}
	host := h.hosts[rank]
	p, err := newProcess(setup{
		rank: rank, host: h.names[host], hostNames: h.names, job: "in-process", secret: h.secret,
		Settings: boot.Settings{Transport: "auto", Loopback: true},
	}, m, h.mems[host])
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	comm, err := p.start()
	if err == nil {
		h.report(rank, job.Joined, 0)
	}
	return comm, err
}

// report tells every host what has become of a rank.
func (h *hub) report(rank int, s job.State, code int32) {
	for _, mem := range h.mems {
		mem.Report(rank, s, code)
	}
}

// close gives the memories and the descriptors up.
func (h *hub) close() error {
	var err error
	for _, f := range h.segments {
		err = errors.Join(err, f.Close())
	}
	for _, mem := range h.mems {
		err = errors.Join(err, mem.Close())
	}
	for host := range h.pagers {
		err = errors.Join(err, h.pagers[host].Close())
	}
	return err
}

// hubMember is one rank's side of a hub.
type hubMember struct {
	*hub
	rank int
}

func (m *hubMember) SetAddress(address []byte) error {
	for _, mem := range m.mems {
		if err := mem.SetAddress(m.rank, address); err != nil {
			return err
		}
	}
	return nil
}

func (m *hubMember) Report([]byte) error { return nil }

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

func (m *hubMember) Pager(_ context.Context, host int) (*os.File, error) {
	return m.pagers[host].Admit(m.rank)
}

func (m *hubMember) Leave() error {
	m.report(m.rank, job.Left, 0)
	return nil
}

func (m *hubMember) Abort(code int, _ string) error {
	m.report(m.rank, job.Failed, int32(code))
	return nil
}

// Close gives everything up with the last member.
func (m *hubMember) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.members--; m.members > 0 {
		return nil
	}
	return m.hub.close()
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
