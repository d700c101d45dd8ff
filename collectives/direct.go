package collectives

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/runtime/arena"
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

// close is the last round, after this rank's last access to a peer's buffers.
//
// A rank that gives up breaks the group and returns, and its buffers may then be
// used for something else, also while a peer still reads them. It may have published
// its closing round before. Whoever finds the group unbroken here has read before
// that; whoever does not leaves the round undone, and so nobody's operation
// succeeds that depends on what was read.
func (e *engine) close(ctx context.Context, c *call) error {
	if err := e.group.Broken(); err != nil {
		return err
	}
	return e.round(ctx, c, c.closing(), nil)
}

// share is a rank's part of n bytes: the parts are whole cache lines, and so
// whole elements, except for the end.
func share(rank, size, n int) (from, to int) {
	const line = 64
	lines := (n + line - 1) / line
	return min(rank*lines/size*line, n), min((rank+1)*lines/size*line, n)
}

// allreduceDirect: each rank combines its part from all inputs, by rank, and
// stores it into all outputs, its own first.
func (e *engine) allreduceDirect(ctx context.Context, c *call) error {
	from, to := share(e.me, e.size, c.bytes)
	if err := e.collectInputs(c, from, to); err != nil {
		return err
	}
	e.outputs = e.outputs[:0]
	for i := range e.size {
		if err := e.collectOutput(c, (e.me+i)%e.size, from, to); err != nil {
			return err
		}
	}
	return e.fold(ctx, c)
}

// reduceDirect: each rank combines its part from all inputs and stores it into
// the root's output.
func (e *engine) reduceDirect(ctx context.Context, c *call) error {
	from, to := share(e.me, e.size, c.bytes)
	if err := e.collectInputs(c, from, to); err != nil {
		return err
	}
	e.outputs = e.outputs[:0]
	if err := e.collectOutput(c, c.root, from, to); err != nil {
		return err
	}
	return e.fold(ctx, c)
}

// collectInputs puts everybody's input from one byte to another into e.inputs.
func (e *engine) collectInputs(c *call, from, to int) error {
	e.inputs = e.inputs[:0]
	for member := range e.size {
		mem, err := e.inOf(member, c.bytes)
		if err != nil {
			return err
		}
		e.inputs = append(e.inputs, mem[from:to])
	}
	return nil
}

// collectOutput adds a member's output to e.outputs.
func (e *engine) collectOutput(c *call, member, from, to int) error {
	mem, err := e.outOf(member, c.bytes)
	if err != nil {
		return err
	}
	e.outputs = append(e.outputs, mem[from:to])
	return nil
}

// fold combines e.inputs into e.outputs and waits for the others.
func (e *engine) fold(ctx context.Context, c *call) error {
	if len(e.inputs[0]) > 0 {
		reduce.All(c.kind, c.op, e.outputs, e.inputs, e.streams(c))
	}
	return e.close(ctx, c)
}

// streams tells whether results should be stored past the caches: where all
// buffers together exceed them, and nobody's output is its input.
func (e *engine) streams(c *call) bool {
	if (e.size+len(e.outputs))*c.bytes < reduce.StreamFrom {
		return false
	}
	for i := range e.offers {
		if o := &e.offers[i]; o.hasOut && o.in == o.out {
			return false
		}
	}
	return true
}
