package world

import (
	"context"
	"encoding/json"

	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

// How a rank reaches the others: the part of Inside that is about transports.

type (
	// A Port is where messages arrive. Messages of one rank come in order.
	Port = router.Port
	// An Op is an operation whose completion is awaited.
	Op = router.Op
	// Stats counts what goes over each path. A nil *Stats counts nothing.
	Stats = router.Stats
)

// MaxMessage is the longest message of Send and Post in bytes.
const MaxMessage = router.MaxMessage

// Local reports whether this rank shares memory with a member.
func (in *Inside) Local(member int) bool {
	return in.comm.process.local(in.comm.group.Rank(member))
}

// Path is how this rank reaches a member: "self", "shm", "tcp" or "verbs". Where this
// rank has an RDMA device it waits until a member on another host has joined.
func (in *Inside) Path(member int) string {
	return router.PathName(in.comm.process.path(in.comm.group.Rank(member)))
}

// CPUAtomics reports whether the atomics of a Conn to a member are carried out by its
// CPU, as those of ranks are that have its memory mapped. A NIC's are not atomic with
// them (IBV_ATOMIC_HCA).
func (in *Inside) CPUAtomics(member int) bool {
	return in.comm.process.path(in.comm.group.Rank(member)) != router.Verbs
}

// HasNIC reports whether this rank has an RDMA device by which members are reached
// that have one, too, and are on other hosts.
func (in *Inside) HasNIC() bool {
	far := in.comm.process.far
	return far != nil && far.HasDevice()
}

// NICConn returns a connection through the devices of this rank and of a member, also
// if they are on one host, or are the same. To a member on another host it is Conn's.
func (in *Inside) NICConn(ctx context.Context, member int) (transport.Conn, error) {
	if !in.Local(member) {
		return in.Conn(ctx, member)
	}
	return in.comm.process.dialNIC(ctx, in.comm.group.Rank(member))
}

// Stats are this rank's counters; nil, which counts nothing, when golaunch was not
// asked for them. Operations on a Conn are counted already.
func (in *Inside) Stats() *Stats { return in.comm.process.stats }

// Conn returns the connection to a member, which all of this rank's communicators
// share. The first call connects: it waits until the member has joined, and ctx
// bounds that.
func (in *Inside) Conn(ctx context.Context, member int) (transport.Conn, error) {
	return in.comm.process.router.Conn(ctx, in.comm.group.Rank(member))
}

// Listen has goroutines of this rank that wait poll for messages from ranks of the
// same host, too. Send and Conn imply it. Without it, messages of such ranks are
// seen only when there are other hosts. It costs nothing after the first time.
func (in *Inside) Listen() { in.comm.process.listen() }

// Progress polls once, for a goroutine that neither waits nor wants to, and
// reports whether anything had arrived.
func (in *Inside) Progress() bool { return in.comm.process.router.Poll() }

// OpenPort makes a port of this rank. handle is called where a message was seen,
// by any goroutine, with the rank in the world that sent it; it must not block,
// wait, Send, or open and close ports. msg is valid during the call only.
func (in *Inside) OpenPort(handle func(from int, msg []byte)) *Port {
	return in.comm.process.router.Open(handle)
}

// Send sends a message of at most MaxMessage bytes to a port of a member, behind
// what was put to that member before. It may block for credit, polling meanwhile;
// ctx bounds connecting. It must not be called by a handler.
func (in *Inside) Send(ctx context.Context, member int, port uint32, msg []byte) error {
	return in.comm.process.router.Send(ctx, in.comm.group.Rank(member), port, msg)
}

// PutSend puts src to memory of a member and sends, behind it, a message that begins
// PrefixSize bytes behind the beginning of buf. Both may be reused when it returns.
func (in *Inside) PutSend(ctx context.Context, member int, dst transport.Remote, src []byte, port uint32, buf []byte) error {
	return in.comm.process.router.PutSend(ctx, in.comm.group.Rank(member), dst, src, port, buf)
}

// PrefixSize is how much room PutSend wants before a message.
const PrefixSize = router.PrefixSize

// Post is Send for handlers: it never blocks. What is posted must be an answer to
// something bounded. Posts to one member stay in order.
func (in *Inside) Post(member int, port uint32, msg []byte) error {
	return in.comm.process.router.Post(in.comm.group.Rank(member), port, msg)
}

// NewOp makes an operation for one call on a Conn, which is given its ID. If that
// call returns an error, Drop takes the operation back, else Await does.
func (in *Inside) NewOp() *Op { return in.comm.process.router.NewOp() }

// Drop gives up an operation that was not begun.
func (in *Inside) Drop(op *Op) { in.comm.process.router.Drop(op) }

// Await returns when an operation on a member's memory has completed, with its
// error: a *RankFailedError if the member failed. It returns earlier when ctx ends;
// the operation may then still take effect, here as well, at any later time.
func (in *Inside) Await(ctx context.Context, member int, op *Op) error {
	return in.comm.process.router.Await(ctx, in.comm.group.Rank(member), op)
}

// Failure returns a *RankFailedError if nothing more is to be expected of a
// member, by word of the job or of its transport; nil otherwise.
func (in *Inside) Failure(member int) error {
	return in.comm.process.router.Failure(in.comm.group.Rank(member))
}

// figures are what golaunch --stats wants to have; docs/launching.md.
type figures struct {
	Ops   int64 `json:"ops"`
	Bytes int64 `json:"bytes"`
	Wait  int64 `json:"wait_ns"`
}

// report hands the counters over, if anybody wants them.
func (p *process) report() error {
	if p.stats == nil {
		return nil
	}
	paths := map[string]figures{}
	for _, c := range p.stats.Counts() {
		if c.Ops != 0 || c.Waited != 0 {
			paths[c.Path] = figures{c.Ops, c.Bytes, int64(c.Waited)}
		}
	}
	text, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		return err
	}
	return p.supervisor.Report(text)
}
