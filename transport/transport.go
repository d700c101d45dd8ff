// Package transport is the contract between the ranks of a job and whatever
// carries bytes between them. It holds no implementation: transport/shm and its
// siblings implement it, transport/transporttest is the suite each of them must
// pass, and runtime/world is the only caller.
//
// A transport moves bytes between registered regions and delivers small
// messages. It knows ranks only as integers and peers only by the opaque
// address each endpoint publishes. Matching, windows, locks and collectives are
// built above it.
//
// Goroutine safety: every method of every interface here may be called from any
// goroutine. [Endpoint.Poll] is the exception: one caller at a time.
package transport

import (
	"context"
	"errors"
	"fmt"
)

// Errors that callers tell apart with errors.Is. A transport wraps them with
// the rank, the operation and the values.
var (
	// ErrRange: the operation does not lie inside the remote region.
	ErrRange = errors.New("outside the registered region")
	// ErrKey: the peer has no region with that key, or has none any more.
	ErrKey = errors.New("no region with that key")
	// ErrAlign: an atomic's target is not aligned to 8 bytes.
	ErrAlign = errors.New("not aligned to 8 bytes")
	// ErrTooLong: a message is longer than MaxMessage.
	ErrTooLong = errors.New("message too long")
	// ErrClosed: the endpoint was closed, here or at the peer.
	ErrClosed = errors.New("endpoint closed")
	// ErrPeerFailed: the peer died or can no longer be reached.
	ErrPeerFailed = errors.New("peer failed")
)

// MaxMessage is the longest message, in bytes, that every Conn accepts in Send.
const MaxMessage = 4096

// A Provider makes endpoints of one kind.
type Provider interface {
	// Name is the word users see and type: "shm", "tcp".
	Name() string
	// Open makes the calling rank's endpoint.
	Open(Config) (Endpoint, error)
}

// Config is what an endpoint is told about the job it serves.
type Config struct {
	Rank, Size int
	// Segment returns this process's mapping of a segment: its own ones and, for
	// the ranks of its host, those of peers. The mapping stays until the endpoint
	// is closed. An error wraps ErrKey when the rank never published the key.
	Segment func(rank int, key uint64) ([]byte, error)
	// Scratch returns zeroed memory of this rank that peers can reach by the
	// returned Remote: message rings live there.
	Scratch func(bytes int) ([]byte, Remote, error)
	// Ring wakes a rank that sleeps, after something was left for it. It is cheap
	// when the rank is awake.
	Ring func(rank int)
	// Wait blocks until ready returns true. It returns an error when ctx ends or
	// when the peer it waits for has failed (wrapping ErrPeerFailed).
	Wait func(ctx context.Context, peer int, ready func() bool) error
}

// Remote names memory of some rank: Len bytes at Offset in its region Key. It
// is plain data and travels in messages.
type Remote struct {
	Key         uint64
	Offset, Len int64
}

// Slice returns the part of r from offset, length bytes long, or an error
// wrapping ErrRange that carries the values.
func (r Remote) Slice(offset, length int64) (Remote, error) {
	if offset < 0 || length < 0 || offset > r.Len || length > r.Len-offset {
		return Remote{}, fmt.Errorf("%d bytes at offset %d of a region of %d: %w", length, offset, r.Len, ErrRange)
	}
	return Remote{Key: r.Key, Offset: r.Offset + offset, Len: length}, nil
}

// A Region is registered memory. Its Remote is valid at every peer until Close.
type Region interface {
	Remote() Remote
	Close() error
}

// OpID identifies an operation in its Completion. Callers choose it; 0 asks for
// no completion.
type OpID uint64

// A Completion reports, once, that an operation with an OpID has ended, or that
// a message has arrived.
type Completion struct {
	Op   OpID
	Rank int // the peer
	// Err is nil when the operation took effect at the peer.
	Err error
	// Message is set for an arrived message and for nothing else. It aliases the
	// receive buffer and is valid until the next Poll.
	Message []byte
}

// An Endpoint is one rank's end of a transport.
type Endpoint interface {
	// Addr is what a peer needs in order to Dial this endpoint. It is opaque and
	// at most 256 bytes long.
	Addr() []byte
	// Register makes mem, memory of this rank's arena that begins at offset in the
	// segment key, accessible to peers.
	Register(key uint64, offset int64, mem []byte) (Region, error)
	// Dial returns the connection to a peer. Dialling a rank again returns a
	// connection with the same ordering guarantees.
	Dial(ctx context.Context, rank int, addr []byte) (Conn, error)
	// Poll fills done with what has completed or arrived since the last call, over
	// every connection, and returns how many entries it filled. It never blocks and
	// never allocates.
	Poll(done []Completion) (int, error)
	// Close ends every connection. Operations in flight end with ErrClosed.
	Close() error
}

// A Conn carries operations from this rank, the origin, to one target.
//
// Put, Get, the atomics and Send block only for credit and end with an error
// when the peer fails or the endpoint closes. The src of a Put and a Send may be
// reused when the call returns; the dst of a Get must not be touched before the
// operation completed.
//
// Ordering: a Send is delivered behind every earlier Put on the same Conn, and
// messages arrive in the order of the Sends. Nothing else is ordered before a
// Flush.
type Conn interface {
	Put(dst Remote, src []byte, op OpID) error
	Get(dst []byte, src Remote, op OpID) error
	// FetchAdd adds delta to the 8-byte word at dst and stores the word's earlier
	// value in *old.
	FetchAdd(dst Remote, delta uint64, old *uint64, op OpID) error
	// CompareSwap stores new in the 8-byte word at dst if it holds expect, and the
	// word's earlier value in *old.
	CompareSwap(dst Remote, expect, new uint64, old *uint64, op OpID) error
	// Send delivers a small message to the peer's Poll.
	Send(msg []byte) error
	// Flush reports op when every earlier operation on this Conn has taken effect at
	// the peer.
	Flush(op OpID) error
	Close() error
}

// A Mapper is an Endpoint that can place a peer's memory in this process's
// address space; loads, stores and CPU atomics then reach it directly.
type Mapper interface {
	// Map returns the memory that r names at the given rank. false: it cannot be
	// mapped, use the Conn.
	Map(rank int, r Remote) ([]byte, bool)
}
