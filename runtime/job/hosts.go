package job

import (
	"fmt"
	"slices"
)

// EachItsHost is Options.Host when ranks of several hosts use one memory, as they
// do when the ranks of one machine are made to talk over a network: it is then
// nobody's, until SetRank says whose it is in this process.
const EachItsHost = -1

// places is which rank is where. Only names and own change, in one process.
type places struct {
	of      []int // host of each rank
	own     int   // this process's host, or EachItsHost
	count   int
	sharers int
	names   []string
}

// check holds the options that say who is where against the number of ranks.
func (o Options) check(size int) error {
	hosts := o.hosts()
	switch {
	case o.Hosts != nil && len(o.Hosts) != size:
		return fmt.Errorf("hosts of %d ranks", len(o.Hosts))
	case o.Hosts != nil && slices.Min(o.Hosts) < 0:
		return fmt.Errorf("a rank on host %d", slices.Min(o.Hosts))
	case hosts > size:
		return fmt.Errorf("%d hosts", hosts)
	case o.Host < EachItsHost || o.Host >= hosts:
		return fmt.Errorf("host %d of %d hosts", o.Host, hosts)
	case o.Sharers < 0 || o.Sharers > size:
		return fmt.Errorf("%d ranks share the cores", o.Sharers)
	}
	return nil
}

// hosts is the number of hosts.
func (o Options) hosts() int {
	if len(o.Hosts) == 0 {
		return 1
	}
	return slices.Max(o.Hosts) + 1
}

func (o Options) header(size int) header {
	h := header{
		magic: magic, layout: layoutVersion, size: uint32(size), cores: uint32(max(o.Cores, 1)), extra: uint64(max(o.Extra, 0)),
		hosts: uint32(o.hosts()), host: int32(o.Host), sharers: uint32(o.Sharers),
	}
	if h.sharers == 0 {
		h.sharers = uint32(o.residents(size))
	}
	return h
}

// residents is how many ranks use the memory, at least 1.
func (o Options) residents(size int) int {
	if o.Hosts == nil || o.Host == EachItsHost {
		return size
	}
	n := 0
	for _, host := range o.Hosts {
		if host == o.Host {
			n++
		}
	}
	return max(n, 1)
}

// table returns the host of each rank, as Create wrote it.
func (h header) table(mem []byte) ([]int, error) {
	hosts := make([]int, h.size)
	for rank := range hosts {
		host := lineOf(mem, rank).host
		if host >= h.hosts {
			return nil, fmt.Errorf("rank %d is on host %d of %d", rank, host, h.hosts)
		}
		hosts[rank] = int(host)
	}
	return hosts, nil
}

// SetRank says which rank this process is. It matters when Options.Host was
// EachItsHost: the rank's host is then this process's. It must be called before
// other goroutines use m, once.
func (m *Memory) SetRank(rank int) {
	if m.own == EachItsHost {
		m.own = m.of[rank]
	}
}

// SetHostNames gives the hosts names, by number, for the errors that this process
// makes of failed ranks. It must be called before other goroutines use m.
func (m *Memory) SetHostNames(names []string) { m.names = slices.Clone(names) }

// Hosts is the number of hosts of the job.
func (m *Memory) Hosts() int { return m.count }

// Host is the number of the host whose memory this is, EachItsHost when ranks of
// several hosts use it and SetRank was not called.
func (m *Memory) Host() int { return m.own }

// HostOf is the number of a rank's host.
func (m *Memory) HostOf(rank int) int { return m.of[rank] }

// Local reports whether rank is on this memory's host: whether it shares this and
// other memory with whoever asks.
func (m *Memory) Local(rank int) bool { return m.of[rank] == m.own }

// Sharers is how many ranks share Cores.
func (m *Memory) Sharers() int { return m.sharers }

// nameOf is the name of a rank's host for an error, "" on the reader's own host
// or when it is not known.
func (m *Memory) nameOf(rank int) string {
	if host := m.of[rank]; host != m.own && host < len(m.names) {
		return m.names[host]
	}
	return ""
}
