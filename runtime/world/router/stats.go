package router

import (
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// Paths by which a rank reaches another one.
const (
	Self = iota // the rank itself
	Shm         // shared memory
	TCP
	Verbs // an RDMA device
	paths
)

var pathNames = [paths]string{"self", "shm", "tcp", "verbs"}

// PathName is the word for a path.
func PathName(path int) string { return pathNames[path] }

// Stats counts what goes over each path. A nil *Stats counts nothing.
type Stats struct {
	pathOf func(rank int) int
	counts [paths]counts
}

type counts struct{ ops, bytes, nanoseconds atomic.Int64 }

// NewStats returns counters; pathOf is the path to a rank.
func NewStats(pathOf func(rank int) int) *Stats { return &Stats{pathOf: pathOf} }

// A Count is what went over one path: operations begun by this rank, the bytes
// they moved, and how long the rank waited for their completion.
type Count struct {
	Path       string
	Ops, Bytes int64
	Waited     time.Duration
}

// Counts are those of all paths.
func (s *Stats) Counts() []Count {
	all := make([]Count, paths)
	for i := range all {
		c := &s.counts[i]
		all[i] = Count{pathNames[i], c.ops.Load(), c.bytes.Load(), time.Duration(c.nanoseconds.Load())}
	}
	return all
}

// Operation counts one of so many bytes.
func (s *Stats) Operation(rank, bytes int) {
	if s == nil {
		return
	}
	c := &s.counts[s.pathOf(rank)]
	c.ops.Add(1)
	c.bytes.Add(int64(bytes))
}

// Waited counts time that the rank has waited for others over a path.
func (s *Stats) Waited(path int, d time.Duration) {
	if s != nil {
		s.counts[path].nanoseconds.Add(int64(d))
	}
}

// begin is the time, if it is wanted.
func (s *Stats) begin() time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Now()
}

// waited counts the time since begin.
func (s *Stats) waited(rank int, since time.Time) {
	if s != nil {
		s.Waited(s.pathOf(rank), time.Since(since))
	}
}

// counting wraps a connection so that its operations are counted.
func (s *Stats) counting(c transport.Conn, rank int) transport.Conn {
	if s == nil {
		return c
	}
	return &counted{c, s, rank}
}

type counted struct {
	transport.Conn
	stats *Stats
	rank  int
}

func (c *counted) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	c.stats.Operation(c.rank, len(src))
	return c.Conn.Put(dst, src, op)
}

func (c *counted) Get(dst []byte, src transport.Remote, op transport.OpID) error {
	c.stats.Operation(c.rank, len(dst))
	return c.Conn.Get(dst, src, op)
}

func (c *counted) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	c.stats.Operation(c.rank, 8)
	return c.Conn.FetchAdd(dst, delta, old, op)
}

func (c *counted) CompareSwap(dst transport.Remote, expect, new uint64, old *uint64, op transport.OpID) error {
	c.stats.Operation(c.rank, 8)
	return c.Conn.CompareSwap(dst, expect, new, old, op)
}

func (c *counted) Send(msg []byte) error {
	c.stats.Operation(c.rank, len(msg))
	return c.Conn.Send(msg)
}
