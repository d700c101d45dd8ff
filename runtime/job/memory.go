package job

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// MaxRanks is the largest number of ranks one host's memory can describe.
const MaxRanks = 1 << 16

// Options of Create.
type Options struct {
	// Cores is how many cores the ranks may use together. Ranks spin only when there
	// is one for each of those that share them.
	Cores int
	// Sharers is how many ranks share Cores; 0: the ranks of this host. Hosts that
	// one machine plays share its cores.
	Sharers int
	// Hosts is the host of each rank, 0 to the largest number in it; nil: all ranks
	// are on host 0.
	Hosts []int
	// Host says whose memory this is: the ranks of other hosts are described in it
	// and do not use it. EachItsHost: ranks of several hosts use it together.
	Host int
	// Extra is how many bytes to keep behind the table, zeroed, page-aligned.
	Extra int
	// InProcess says that every rank is a goroutine of this process. They then
	// sleep on channels instead of a futex, which would hold a thread each.
	InProcess bool
}

// Memory is the mapped memory of a job on one host.
type Memory struct {
	file  *os.File
	mem   []byte
	size  int
	cores int
	extra int
	places
	// bells is nil when ranks are processes.
	bells []chan struct{}
}

const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// Create makes the memory of a job of size ranks. Its pages are taken from the
// host as they are first touched.
func Create(size int, opt Options) (*Memory, error) {
	if size < 1 || size > MaxRanks {
		return nil, fmt.Errorf("job memory for %d ranks: want 1 to %d", size, MaxRanks)
	}
	if err := opt.check(size); err != nil {
		return nil, fmt.Errorf("job memory for %d ranks: %w", size, err)
	}
	fd, err := unix.MemfdCreate("golaunch-job", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create for the job's memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "golaunch-job")
	total := extraOffset(size) + max(opt.Extra, 0)
	if err := sealed(fd, int64(total)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mem, err := mapShared(fd, total)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	h := opt.header(size)
	*headerOf(mem) = h
	hosts := opt.Hosts
	if hosts == nil {
		hosts = make([]int, size)
	}
	for rank, host := range hosts {
		lineOf(mem, rank).host = uint32(host)
	}
	m := newMemory(f, mem, h, hosts)
	if opt.InProcess {
		m.bells = make([]chan struct{}, size)
		for i := range m.bells {
			m.bells[i] = make(chan struct{}, 1)
		}
	}
	return m, nil
}

func sealed(fd int, size int64) error {
	if err := unix.Ftruncate(fd, size); err != nil {
		return fmt.Errorf("sizing the job's memory to %d bytes: %w", size, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		return fmt.Errorf("sealing the job's memory: %w", err)
	}
	return nil
}

func mapShared(fd, size int) ([]byte, error) {
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of the job's memory: %w", size, err)
	}
	return mem, nil
}

// Map maps the memory behind f, which another process created, and takes over
// f. What it reads there is checked before it is used: the file must be sealed
// and large enough for what its header says.
func Map(f *os.File) (*Memory, error) {
	m, err := mapChecked(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("job memory: %w", err), f.Close())
	}
	return m, nil
}

func mapChecked(f *os.File) (*Memory, error) {
	fd := int(f.Fd())
	have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || have&unix.F_SEAL_SHRINK == 0 {
		return nil, fmt.Errorf("the descriptor is no memory sealed against shrinking (seals %#x, %v)", have, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size < pageSize || st.Size > math.MaxInt32*16 {
		return nil, fmt.Errorf("%d bytes cannot be a job's memory", st.Size)
	}
	mem, err := mapShared(fd, int(st.Size))
	if err != nil {
		return nil, err
	}
	h := *headerOf(mem)
	if err := h.check(len(mem)); err != nil {
		return nil, errors.Join(err, unix.Munmap(mem))
	}
	hosts, err := h.table(mem)
	if err != nil {
		return nil, errors.Join(err, unix.Munmap(mem))
	}
	return newMemory(f, mem, h, hosts), nil
}

func newMemory(f *os.File, mem []byte, h header, hosts []int) *Memory {
	return &Memory{
		file: f, mem: mem, size: int(h.size), cores: int(h.cores), extra: int(h.extra),
		places: places{of: hosts, own: int(h.host), count: int(h.hosts), sharers: int(h.sharers)},
	}
}

// check holds a header against the size of the memory it was found in.
func (h header) check(bytes int) error {
	switch {
	case h.magic != magic:
		return fmt.Errorf("magic %#x, want %#x", h.magic, uint64(magic))
	case h.layout != layoutVersion:
		return fmt.Errorf("layout version %d, this program knows %d", h.layout, layoutVersion)
	case h.size < 1 || h.size > MaxRanks:
		return fmt.Errorf("%d ranks", h.size)
	case h.cores < 1:
		return fmt.Errorf("%d cores", h.cores)
	case h.hosts < 1 || h.hosts > h.size || h.host >= int32(h.hosts) || h.host < EachItsHost:
		return fmt.Errorf("host %d of %d hosts", h.host, h.hosts)
	case h.sharers < 1 || h.sharers > h.size:
		return fmt.Errorf("%d ranks share the cores", h.sharers)
	case bytes < extraOffset(int(h.size)) || uint64(bytes-extraOffset(int(h.size))) < h.extra:
		return fmt.Errorf("%d bytes are too few for %d ranks and %d bytes more", bytes, h.size, h.extra)
	}
	return nil
}

// File is the memfd, to be inherited by or sent to the ranks. m keeps owning it.
func (m *Memory) File() *os.File { return m.file }

// Size is the number of ranks, those of other hosts included.
func (m *Memory) Size() int { return m.size }

// Cores is how many cores Sharers ranks may use together.
func (m *Memory) Cores() int { return m.cores }

// InProcess reports whether the ranks are goroutines of one process.
func (m *Memory) InProcess() bool { return m.bells != nil }

// Extra is the memory behind the table, Options.Extra bytes.
func (m *Memory) Extra() []byte {
	from := extraOffset(m.size)
	return m.mem[from : from+m.extra : from+m.extra]
}

// Close unmaps the memory and closes the descriptor. Nothing of m, nor any slice
// of Extra, may be used afterwards.
func (m *Memory) Close() error {
	mem := m.mem
	m.mem = nil
	return errors.Join(unix.Munmap(mem), m.file.Close())
}
