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
// goroutine. [Endpoint.Poll] is the exception: one caller at a time. What several
// goroutines send on one Conn arrives in some order that keeps each one's own.
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

const (
	// MaxMessage is the longest message, in bytes, that every Conn accepts in Send.
	MaxMessage = 4096
	// MinCredit is the number of messages, of any length, that a Conn accepts
	// although the peer never polls. Until then a Send may block for what the peer's
	// endpoint does by itself, and not for its program.
	MinCredit = 8
	// MinOutstanding is the number of operations with an OpID that an Endpoint
	// accepts before it may block although its rank never polls.
	MinOutstanding = 256
)

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
	// the ranks of its host, those of peers. The mapping stays until Close of the
	// endpoint has returned. An error wraps ErrKey when the rank never published
	// the key.
	Segment func(rank int, key uint64) ([]byte, error)
	// Scratch returns zeroed memory of this rank, aligned to 64 bytes, that the
	// ranks of its host find at the returned place: its Key and Offset are those of
	// a segment, as Segment takes them, and not of a Region. It stays until Close
	// of the endpoint has returned.
	Scratch func(bytes int) ([]byte, Remote, error)
	// Ring wakes a rank that sleeps, after something was left for it: whatever
	// makes a Poll worth while or a Wait ready rings, also this rank's own bell. It
	// is cheap when the rank is awake.
	Ring func(rank int)
	// Wait blocks until ready returns true. It returns an error when ctx ends or
	// when the peer it waits for has failed (wrapping ErrPeerFailed). A transport
	// blocks nowhere else, and holds no lock that Poll or another operation needs
	// while it does: Wait may poll the endpoint itself. ready is cheap and may be
	// called from any goroutine.
	Wait func(ctx context.Context, peer int, ready func() bool) error
	// Progress, when not nil, is called by a goroutine of the endpoint, which holds
	// no lock then, after it has left something for Poll that nobody may be polling
	// for, or when what the last Poll delivered may have to be given back; Ring was
	// called before. It may Poll. It does not wait for a peer, and calls no Close: the
	// endpoint does nothing else until it returns. A transport without goroutines never
	// calls it.
	Progress func()
	// Watches says that the rank itself waits for the descriptor of an endpoint that is a
	// Waker to be readable, after Rest, and then Polls: no goroutine of the endpoint does
	// instead. Goroutines that take in what arrives all the same, because a connection is
	// encrypted, announce it as to any rank.
	Watches bool
	// Served, when not nil, is called by a goroutine of the endpoint, which may hold
	// locks, after it has served peers because the rank did not poll: a rank that
	// only waits could do so with less delay.
	Served func()
}

// Remote names memory of some rank: Len bytes at Offset in its region Key. It
// is plain data and travels in messages. The key was chosen by that rank's
// endpoint when the region was registered and means something to that endpoint
// and those that dialled it only.
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

// A Region is registered memory. Its Remote is valid at every peer until Close;
// operations that a peer begins after Close has returned end with ErrKey.
// Operations under way at that moment may still take effect, so the owner of the
// memory gives it to somebody else only when the peers are known to have finished.
type Region interface {
	Remote() Remote
	Close() error
}

// A Landing is memory for what one rank Puts before it is known where that goes: a
// payload at a time, each as a whole and from the beginning.
type Landing interface {
	Region
	// Redirect has the payload with a number, counted from 1, go to memory of its length
	// instead; what of it has come is copied there. Afterwards nothing is stored where it
	// went so far. false: it has come as a whole, and lies there.
	Redirect(number uint64, to []byte) bool
}

// A Lander is an endpoint that has Landings for the Puts of some ranks.
type Lander interface {
	Land(rank int, mem []byte) (Landing, error)
}

// OpID identifies an operation in its Completion. Callers choose it; 0 asks for
// no completion.
type OpID uint64

// A Completion reports, once, one of three things:
//
//   - an operation with an OpID has ended: Op is not 0. Completions come in any
//     order, also that of a Flush and of the operations before it;
//   - a message has arrived: Message is not nil, even when its length is 0;
//   - nothing more will arrive from Rank: Op is 0, Message nil and Err says why.
type Completion struct {
	Op   OpID
	Rank int // the peer
	// Err is nil when the operation took effect at the peer.
	Err error
	// Message is set for an arrived message and for nothing else. It aliases the
	// receive buffer and is valid until the next Poll or Close. The receiver does
	// not write to it.
	Message []byte
}

// An Endpoint is one rank's end of a transport.
type Endpoint interface {
	// Addr is what a peer needs in order to Dial this endpoint. It is opaque and
	// at most 256 bytes long.
	Addr() []byte
	// Register makes mem accessible to peers: memory of this rank's arena that begins
	// at offset in the segment key. A transport that maps segments refuses memory that
	// is not found there; one that does not may take any memory that stays where it
	// is (of the arena or the heap; not a goroutine's stack), and does not look at key
	// and offset. The Region's Remote has a key of its own, Offset 0 and Len len(mem),
	// which may be 0.
	Register(key uint64, offset int64, mem []byte) (Region, error)
	// Dial returns the connection to a peer, or to the rank itself. Dialling a rank
	// again returns a connection with the same ordering guarantees: the two are
	// ordered as one.
	Dial(ctx context.Context, rank int, addr []byte) (Conn, error)
	// Poll fills done with what has completed or arrived since the last call, over
	// every connection, and returns how many entries it filled; what does not fit
	// comes with the next call. Its error means that the endpoint itself can no
	// longer be used, ErrClosed after Close. It never waits for a peer, and allocates
	// nothing; setting up what a peer's very first message needs is excepted.
	//
	// Buffers of messages go back to their senders with the Poll after the one that
	// delivered them. A rank that is about to sleep polls until nothing comes;
	// otherwise a sender may wait for a buffer that nobody looks at any more. A Rester
	// sees to that itself: when the rank rests, or is found out not to poll, it has
	// Progress called for buffers that were not given back.
	Poll(done []Completion) (int, error)
	// Close ends every connection. Operations in flight, blocked ones included, end
	// with ErrClosed, and the memory of Segment and Scratch is not touched any more
	// once it has returned. Peers' later operations end with ErrClosed. Closing again
	// does nothing.
	Close() error
}

// A Conn carries operations from this rank, the origin, to one target.
//
// Put, Get, the atomics and Send block only for credit and end with an error
// when the peer fails or the endpoint closes. Credit comes back when the peer
// polls (Send) or this rank does (operations with an OpID): while a call is
// blocked somebody must go on polling, another goroutine or Config.Wait. The src
// of a Put and a Send may be reused when the call returns; the dst of a Get and
// the old of an atomic must not be touched before the operation completed.
//
// One-sided operations (all but Send) complete whatever the target's program
// does: it need not poll.
//
// Errors: a call that returns an error had no effect and gets no completion. An
// operation that fails later says so in its completion, and with OpID 0 in the
// completion of the next Flush on the Conn. A refused operation (ErrRange,
// ErrKey, ErrAlign, ErrTooLong) leaves the connection usable.
//
// Ordering: a Send is delivered behind every earlier Put on the same Conn, and
// messages arrive in the order of the Sends. Nothing else is ordered before a
// Flush.
type Conn interface {
	// Put copies src to dst. ErrRange when src is longer than dst.Len; a shorter one
	// leaves the rest of dst alone.
	Put(dst Remote, src []byte, op OpID) error
	// Get fills dst from src. ErrRange when dst is longer than src.Len.
	Get(dst []byte, src Remote, op OpID) error
	// FetchAdd adds delta to the 8-byte word at dst, in the target's byte order, and
	// stores the word's earlier value in *old; nil: nobody wants it. ErrAlign when
	// the word is not aligned at the target.
	FetchAdd(dst Remote, delta uint64, old *uint64, op OpID) error
	// CompareSwap stores new in the 8-byte word at dst if it holds expect, and the
	// word's earlier value in *old; nil: nobody wants it.
	CompareSwap(dst Remote, expect, new uint64, old *uint64, op OpID) error
	// Send delivers a small message to the peer's Poll. ErrTooLong past MaxMessage.
	Send(msg []byte) error
	// Flush reports op when every earlier Put, Get and atomic on this Conn has taken
	// effect at the peer.
	Flush(op OpID) error
	// Close ends this Conn: later and blocked calls on it end with ErrClosed. Other
	// connections to the same rank stay.
	Close() error
}

// A TrySender is a Conn that can send without blocking: for who must not wait, as in a handler.
type TrySender interface {
	// TrySend is Send if there is credit. sent is false when Send would block, or when the
	// Conn cannot tell; then msg has not been sent. It is ordered with Sends, and its errors
	// are those of Send.
	TrySend(msg []byte) (sent bool, err error)
}

// A PutSender is a Conn on which a Put and the message that tells of it can leave together.
type PutSender interface {
	// PutSend is Put(dst, src, 0) and then, unless that is an error, Send(msg). If only the
	// message is refused (ErrTooLong), src may have been put.
	PutSend(dst Remote, src, msg []byte) error
}

// A Mapper is an Endpoint that can place a peer's memory in this process's
// address space; loads, stores and CPU atomics then reach it directly.
type Mapper interface {
	// Map returns the memory that r names at the given rank, which has been dialled.
	// false: it cannot be mapped, use the Conn. The memory may be used until Close of
	// the endpoint; Map does not see a later Close of the region.
	Map(rank int, r Remote) ([]byte, bool)
}

// A Waker is an Endpoint with a descriptor that is readable, level-triggered, when a Poll
// may find something that nobody has rung for: for a rank that waits for other descriptors as
// well (Config.Watches). Before it waits it Rests. A blocked call's Wait then Polls, too, if
// need be with no room for completions.
type Waker interface {
	Descriptor() int
}

// A Rester is an Endpoint that takes in what arrives by itself while its rank does
// not poll, and leaves that to Poll while it does.
type Rester interface {
	// Rest says that the rank stops polling in a loop, as it does before it sleeps or
	// returns to the program: whatever arrives from now on the endpoint itself takes
	// in, at once, and announces by Ring and Config.Progress. A rank that forgets to
	// rest is found out, later. The next Poll ends the rest. Any goroutine may call
	// it.
	Rest()
}
