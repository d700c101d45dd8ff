package collectives

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/copying"
)

// Operations on buffers in the arena. After the opening round everybody's buffers
// may be read and results stored; after the closing round nobody else touches a
// rank's buffers any more.

// view remembers where a member's buffers were mapped the last time.
type view struct{ in, out mapping }

type mapping struct {
	at  arena.Extent
	mem []byte
}

// all tells whether every rank offers the buffers named.
func (e *engine) all(flags int) bool {
	for i := range e.offers {
		o := &e.offers[i]
		if flags&offersIn != 0 && !o.hasIn || flags&offersOut != 0 && !o.hasOut {
			return false
		}
	}
	return true
}

// inOf and outOf give a member's buffers, n bytes.
func (e *engine) inOf(member, n int) ([]byte, error) {
	return e.reach(member, &e.views[member].in, e.offers[member].in, n)
}

func (e *engine) outOf(member, n int) ([]byte, error) {
	return e.reach(member, &e.views[member].out, e.offers[member].out, n)
}

// reach maps a buffer, unless it is the one of the last time: a segment's key
// never means another one, and mappings stay.
func (e *engine) reach(member int, m *mapping, at arena.Extent, n int) ([]byte, error) {
	if m.at == at && len(m.mem) == n {
		return m.mem, nil
	}
	mem, err := e.inside.At(member, at, n)
	if err != nil {
		return nil, fmt.Errorf("buffer of rank %d: %w", member, err)
	}
	*m = mapping{at, mem}
	return mem, nil
}

// close is the last round.
func (e *engine) close(ctx context.Context, c *call) error { return e.round(ctx, c, c.closing(), nil) }

// share is a rank's part of n bytes: the parts are whole cache lines, and so
// whole elements, except for the end.
func share(rank, size, n int) (from, to int) {
	const line = 64
	lines := (n + line - 1) / line
	return min(rank*lines/size*line, n), min((rank+1)*lines/size*line, n)
}

// foldBytes is how much is combined at a time where there are more than two
// ranks: the partial result stays in the first-level cache.
const foldBytes = 8 << 10

// allreduceDirect: each rank combines its part from all inputs and stores it into
// all outputs.
func (e *engine) allreduceDirect(ctx context.Context, c *call) error {
	if err := e.reachAll(c.bytes); err != nil {
		return err
	}
	from, to := share(e.me, e.size, c.bytes)
	for at := from; at < to; {
		n := to - at
		if e.size > 2 {
			n = min(n, foldBytes)
		}
		e.fold(c, at, n, e.me, (e.me+1)%e.size)
		e.spread(at, n)
		at += n
	}
	return e.close(ctx, c)
}

// reachAll maps everybody's buffers.
func (e *engine) reachAll(n int) error {
	for member := range e.size {
		if _, err := e.inOf(member, n); err != nil {
			return err
		}
		if _, err := e.outOf(member, n); err != nil {
			return err
		}
	}
	return nil
}

// fold combines n bytes at the given place from all inputs, by rank, and stores
// them into the outputs of two ranks, which may be the same one. Every input has
// been read before an output is stored, for an output may be an input.
func (e *engine) fold(c *call, at, n, first, second int) {
	in := func(member int) []byte { return e.views[member].in.mem[at : at+n] }
	left := in(0)
	for member := 1; member < e.size-1; member++ {
		partial := e.scratchOf(n)
		reduce.Into(c.kind, c.op, partial, left, in(member))
		left = partial
	}
	out, copied := e.views[first].out.mem[at:at+n], e.views[second].out.mem[at:at+n]
	switch {
	case e.size == 1:
		copying.Copy(out, left)
	case first == second:
		reduce.Into(c.kind, c.op, out, left, in(e.size-1))
	default:
		reduce.Into2(c.kind, c.op, out, copied, left, in(e.size-1))
	}
}

// spread copies n bytes of this rank's output to those that fold left out.
func (e *engine) spread(at, n int) {
	for i := 2; i < e.size; i++ {
		member := (e.me + i) % e.size
		copy(e.views[member].out.mem[at:at+n], e.views[e.me].out.mem[at:at+n])
	}
}

// reduceDirect: each rank combines its part from all inputs and stores it into
// the root's output.
func (e *engine) reduceDirect(ctx context.Context, c *call) error {
	for member := range e.size {
		if _, err := e.inOf(member, c.bytes); err != nil {
			return err
		}
	}
	if _, err := e.outOf(c.root, c.bytes); err != nil {
		return err
	}
	from, to := share(e.me, e.size, c.bytes)
	for at := from; at < to; at += foldBytes {
		e.fold(c, at, min(foldBytes, to-at), c.root, c.root)
	}
	return e.close(ctx, c)
}

// scratchOf is n bytes for partial results.
func (e *engine) scratchOf(n int) []byte {
	if len(e.scratch) < n {
		e.scratch = make([]byte, n)
	}
	return e.scratch[:n]
}
