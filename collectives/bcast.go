package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/copying"
	"github.com/golaunch/golaunch/runtime/world"
)

// Bcast copies the root's buf into every rank's (MPI 5.0 section 6.4). T has no
// pointers. Errors are those of Allreduce, and wrong arguments.
func Bcast[T any](ctx context.Context, comm *world.Comm, root int, buf []T) error {
	c := callOf[T](callBcast, root, len(buf))
	e, err := enter(ctx, comm, &c)
	if err != nil {
		return err
	}
	if err = e.checkRoot(root); err == nil {
		err = e.bcast(ctx, &c, asBytes(buf))
	}
	return e.leave(&c, err)
}

func (e *engine) bcast(ctx context.Context, c *call, buf []byte) error {
	if c.small() {
		return e.bcastSmall(ctx, c, buf)
	}
	if err := e.open(ctx, c, nil, buf); err != nil {
		return err
	}
	if e.offers[c.root].hasOut {
		return e.bcastDirect(ctx, c, buf)
	}
	return e.stream(ctx, c, schedule.ForBcast(e.size, c.bytes, e.hosts), nil, buf)
}

func (e *engine) bcastSmall(ctx context.Context, c *call, buf []byte) error {
	var payload []byte
	if e.me == c.root {
		payload = buf
	}
	if err := e.round(ctx, c, c.signature(), payload); err != nil {
		return err
	}
	if e.me != c.root {
		copy(buf, e.group.Payload(c.root))
	}
	return nil
}

// bcastDirect: everybody copies from the root's buffer.
func (e *engine) bcastDirect(ctx context.Context, c *call, buf []byte) error {
	if e.me != c.root {
		from, err := e.outOf(c.root, c.bytes)
		if err != nil {
			return err
		}
		copying.Copy(buf, from)
	}
	return e.close(ctx, c)
}
