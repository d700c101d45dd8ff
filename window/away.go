package window

import (
	"context"
	"errors"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/transport"
)

// What the window asks of the world about ranks on other hosts.

// whoIsAway says which members share no memory with this rank; nil if all do.
func whoIsAway(in *world.Inside, members int) []bool {
	away := make([]bool, members)
	any := false
	for m := range away {
		away[m] = !in.Local(m)
		any = any || away[m]
	}
	if !any {
		return nil
	}
	return away
}

// Path is how operations of this rank reach the part of a rank: "self", "shm" for
// memory of this host, "tcp" or "verbs" for another one; "" if there is no such rank. What a
// coherent window does not find on this host comes by the pagers of both, which is then what
// the path is between.
func (c *core) Path(rank int) string {
	if uint(rank) >= uint(len(c.parts)) {
		return ""
	}
	if c.coherent != nil && !c.in.Local(rank) {
		return c.coherent.paths[rank]
	}
	return c.in.Path(rank)
}

// operate carries out an operation of the transport and waits for its end. What it
// writes to is not touched any more when it returns.
func (c *core) operate(target int, do func(id transport.OpID) error) error {
	op := c.in.NewOp()
	if err := do(op.ID()); err != nil {
		c.in.Drop(op)
		return c.explain(target, err)
	}
	return c.awaitOp(target, op)
}

func (c *core) flush(r *remote) (*world.Op, error) {
	conn, err := c.in.Conn(context.Background(), r.target)
	if err != nil {
		return nil, err
	}
	op := c.in.NewOp()
	if err := conn.Flush(op.ID()); err != nil {
		c.in.Drop(op)
		return nil, c.explain(r.target, err)
	}
	return op, nil
}

func (c *core) awaitOp(target int, op *world.Op) error {
	return c.in.Await(context.Background(), target, op)
}

// explain makes what a transport says of a target the target's failure, if it is that.
func (c *core) explain(target int, err error) error {
	if errors.Is(err, transport.ErrPeerFailed) || errors.Is(err, transport.ErrClosed) {
		if failed := c.in.Failure(target); failed != nil {
			return failed
		}
	}
	return err
}

// known replaces what a target knows of a failure by what this rank knows, which names
// hosts as they are seen from here.
func (c *core) known(err error) error {
	var broken *world.BrokenError
	if errors.As(err, &broken) {
		if own := c.group.Broken(); own != nil {
			return own
		}
		return err
	}
	var failed *world.RankFailedError
	if !errors.As(err, &failed) {
		return err
	}
	for m := range c.parts {
		if c.in.WorldRank(m) == failed.Rank {
			if own := c.in.Failure(m); own != nil {
				return own
			}
		}
	}
	return err
}
