package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
)

const (
	// chunkBytes is the chunk of schedules that cut their messages. A chunk that is
	// received and sent on is still in the cache, and a pipe holds several.
	chunkBytes = 32 << 10

	// blockChunks is how many chunks of each part one schedule has at most; a
	// longer operation is carried out block by block, so that programs stay small.
	blockChunks = 64
)

// chunk is the chunk of schedules that cut their messages, in bytes: between hosts it
// is what one Put takes, which costs system calls.
func (e *engine) chunk() int {
	if e.hosts != "" {
		return linkPiece
	}
	return chunkBytes
}

// stream carries out an operation through pipes and links.
func (e *engine) stream(ctx context.Context, c *call, a schedule.Algorithm, in, out []byte) error {
	d := data{kind: c.kind, op: c.op, width: 1, in: in, out: out}
	if c.op != 0 {
		d.width = c.width
	}
	plan := schedule.Plan{Algorithm: a, Size: e.size, Root: c.root, Count: c.bytes / d.width, Hosts: e.hosts}
	if !a.Chunked() {
		return e.carryOut(ctx, plan, d)
	}
	plan.Chunk = e.chunk() / d.width
	block := plan.Chunk * blockChunks * e.size
	for from := 0; from < c.bytes/d.width; from += block {
		plan.Count = min(block, c.bytes/d.width-from)
		if err := e.carryOut(ctx, plan, d.part(from, plan.Count)); err != nil {
			return err
		}
	}
	return nil
}

// data is what a schedule works on. Its offsets count elements of width bytes.
type data struct {
	kind  reduce.Kind
	op    reduce.Op
	width int
	in    []byte
	out   []byte
	temp  []byte
}

// part is n elements of in and out, from the given one on.
func (d data) part(from, n int) data {
	d.in, d.out = cut(d.in, from*d.width, n*d.width), cut(d.out, from*d.width, n*d.width)
	return d
}

// cut leaves a buffer that this rank has not nil.
func cut(b []byte, from, n int) []byte {
	if len(b) == 0 {
		return nil
	}
	return b[from : from+n]
}

// at is the bytes from moved on, up to n of them, of a step's range at r.
func (d *data) at(r schedule.Ref, moved, n int) []byte {
	from := r.Off*d.width + moved
	switch r.Buffer {
	case schedule.In:
		return d.in[from : from+n]
	case schedule.Out:
		return d.out[from : from+n]
	default:
		return d.temp[from : from+n]
	}
}
