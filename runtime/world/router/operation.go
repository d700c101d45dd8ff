package router

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// An Op is an operation whose completion somebody awaits. It is for one use.
type Op struct {
	id    transport.OpID
	state atomic.Uint32
	err   error // before state is opDone
}

const (
	opPending uint32 = iota
	opDone
	opAbandoned // nobody waits any more: the completion frees it
)

// operations are those that have been made and not awaited.
//
// An OpID is an index into all, plus 1, and in its upper half how often that place
// was used: a completion that comes twice, or was invented, finds nothing.
type operations struct {
	mu   sync.Mutex
	all  []*Op
	free []*Op
}

const opIndexBits = 32

// NewOp makes an operation. Its ID is given to one call on a Conn; if that returns
// an error, Drop takes the operation back, else Await does.
func (r *Router) NewOp() *Op {
	o := &r.ops
	o.mu.Lock()
	defer o.mu.Unlock()
	if last := len(o.free) - 1; last >= 0 {
		op := o.free[last]
		o.free = o.free[:last]
		return op
	}
	op := &Op{}
	o.all = append(o.all, op)
	op.id = transport.OpID(len(o.all))
	return op
}

// ID is what the call on a Conn is given.
func (op *Op) ID() transport.OpID { return op.id }

// Done reports whether the operation has completed, well or not.
func (op *Op) Done() bool { return op.state.Load() == opDone }

// Ready makes an Op a condition to wait for.
func (op *Op) Ready() bool { return op.Done() }

// Err is nil: an operation whose target failed completes with an error.
func (op *Op) Err() error { return nil }

// Drop gives up an operation that was not begun.
func (r *Router) Drop(op *Op) { r.ops.release(op) }

// Await returns when the operation, whose target is the given rank, has
// completed, with its error: a *job.RankFailedError if the rank failed. It returns
// earlier when ctx ends; the operation may then still take effect, here as well,
// at any later time.
func (r *Router) Await(ctx context.Context, rank int, op *Op) error {
	began := r.cfg.Stats.begin()
	err := r.cfg.Until(ctx, op)
	r.cfg.Stats.waited(rank, began)
	if err != nil {
		if !op.state.CompareAndSwap(opPending, opAbandoned) {
			r.ops.release(op)
		}
		return r.errorf(rank, "operation", err)
	}
	err = op.err
	r.ops.release(op)
	if err != nil {
		return r.errorf(rank, "operation", err)
	}
	return nil
}

// complete reports an operation's end. One that nobody has begun is ignored.
func (o *operations) complete(id transport.OpID, err error) {
	op := o.find(id)
	if op == nil {
		return
	}
	op.err = err
	if !op.state.CompareAndSwap(opPending, opDone) {
		o.release(op)
	}
}

// find returns the pending or abandoned operation with that number.
func (o *operations) find(id transport.OpID) *Op {
	o.mu.Lock()
	defer o.mu.Unlock()
	index := uint64(id)&(1<<opIndexBits-1) - 1
	if index >= uint64(len(o.all)) || o.all[index].id != id || o.all[index].Done() {
		return nil
	}
	return o.all[index]
}

func (o *operations) release(op *Op) {
	o.mu.Lock()
	defer o.mu.Unlock()
	op.id += 1 << opIndexBits
	op.err = nil
	op.state.Store(opPending)
	o.free = append(o.free, op)
}

func (op *Op) String() string { return fmt.Sprintf("operation %#x", uint64(op.id)) }
