package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/reduce"
)

// An exchange is an Allreduce through stages. Each block of the vector passes
// through three steps at every rank:
//
//	post(b)     it copies the others' parts of its input into its stage
//	combine(b)  it combines its part, by rank, from its input and the others'
//	            stages, into its output and its stage
//	fetch(b)    it copies the others' parts of the result from their stages
//
// A round r is published after post(r) and combine(r-1), and passing it means that
// everybody has done these. A rank's k-th turn is
//
//	post(k)  fetch(k-3)  pass round k-1  combine(k-1)  publish round k
//
// so there is work between publishing a round and passing it, and nobody waits for
// a rank that is a little late.
//
// What is read was written: combine(k-1) reads post(k-1), and fetch(k-3) reads
// combine(k-3), which round k-2 has told.
//
// Nothing is overwritten that may still be read, as depth is 3: post(k) overwrites
// post(k-3), which others read in combine(k-3), told by round k-2; combine(k-1)
// overwrites combine(k-4), which others read in fetch(k-4) of turn k-1, told by
// round k-1. Across operations, the next one's first post comes after its opening
// round, which nobody enters before its last fetch.
//
// No rank touches another one's buffers, only its stage. So a rank may return, also
// with an error, at any time: what it leaves in its stage stays, since the
// communicator is broken, and there is no closing round. In and out may be the
// same: a block's input is in the stages before its output is written, but for the
// part that the rank itself combines, element by element.
type exchange struct {
	*engine
	*call
	in, out []byte
	blocks  int
}

func (e *engine) allreduceStaged(ctx context.Context, c *call, in, out []byte) error {
	x, err := e.exchange(ctx, c, in, out)
	for k := 0; err == nil && k < x.turns(); k++ {
		err = x.turn(ctx, k)
	}
	return err
}

// exchange prepares one.
func (e *engine) exchange(ctx context.Context, c *call, in, out []byte) (exchange, error) {
	if err := e.setUp(ctx, c); err != nil {
		return exchange{}, err
	}
	whole := e.stage.whole()
	return exchange{engine: e, call: c, in: in, out: out, blocks: (c.bytes + whole - 1) / whole}, nil
}

func (x *exchange) turns() int { return x.blocks + depth }

func (x *exchange) turn(ctx context.Context, k int) error {
	if k < x.blocks {
		x.post(k)
	}
	if k >= depth {
		x.fetch(k - depth)
	}
	if 0 < k && k <= x.blocks+1 {
		if err := x.group.WaitAll(ctx); err != nil {
			return x.explain(x.call, err)
		}
	}
	if 0 < k && k <= x.blocks {
		x.combineOwn(k - 1)
	}
	if k <= x.blocks {
		x.group.Publish(x.opening()|sigBlock, nil)
	}
	return nil
}

// span is a member's part of a block.
func (x *exchange) span(member, block int) (from, to int) {
	whole := x.stage.whole()
	from, to = share(member, x.size, min(whole, x.bytes-block*whole))
	return block*whole + from, block*whole + to
}

func (x *exchange) post(block int) {
	for i := 1; i < x.size; i++ {
		member := (x.me + i) % x.size
		from, to := x.span(member, block)
		copy(x.stage.input(x.me, block, member), x.in[from:to])
	}
}

func (x *exchange) fetch(block int) {
	for i := 1; i < x.size; i++ { // not all from the same one at once
		member := (x.me + i) % x.size
		from, to := x.span(member, block)
		copy(x.out[from:to], x.stage.result(member, block))
	}
}

// combineOwn combines this rank's part of a block, a chunk at a time, which stays in
// the nearest cache from one member to the next.
func (x *exchange) combineOwn(block int) {
	const chunk = 16 << 10
	from, to := x.span(x.me, block)
	for at := from; at < to; at += chunk {
		x.combineChunk(block, at-from, at, min(at+chunk, to))
	}
}

// combineChunk: what there is so far is in this rank's stage, as its output may be
// its input. offset is where the chunk is in its part.
func (x *exchange) combineChunk(block, offset, from, to int) {
	n := to - from
	result := x.stage.result(x.me, block)[offset:][:n]
	left := x.operand(0, block, offset, from, to)
	for member := 1; member < x.size-1; member++ {
		reduce.Into(x.kind, x.op, result, left, x.operand(member, block, offset, from, to))
		left = result
	}
	reduce.Into2(x.kind, x.op, x.out[from:to], result, left, x.operand(x.size-1, block, offset, from, to))
}

func (x *exchange) operand(member, block, offset, from, to int) []byte {
	if member == x.me {
		return x.in[from:to]
	}
	return x.stage.input(member, block, x.me)[offset:][:to-from]
}
