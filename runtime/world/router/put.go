package router

import (
	"context"

	"github.com/golaunch/golaunch/transport"
)

// PutSend puts src to memory of a rank and sends, behind it, a message that begins
// PrefixSize bytes behind the beginning of buf, as SendInPlace does. Both may be
// reused when it returns.
func (r *Router) PutSend(ctx context.Context, rank int, dst transport.Remote, src []byte, port uint32, buf []byte) error {
	c, err := r.Conn(ctx, rank)
	if err != nil {
		return err
	}
	PutPrefix(buf, port)
	if p, ok := c.(transport.PutSender); ok {
		err = p.PutSend(dst, src, buf)
	} else if err = c.Put(dst, src, 0); err == nil {
		err = c.Send(buf)
	}
	if err != nil {
		return r.errorf(rank, "message", err)
	}
	return nil
}

func (c *counted) PutSend(dst transport.Remote, src, msg []byte) error {
	if p, ok := c.Conn.(transport.PutSender); ok {
		c.stats.Operation(c.rank, len(src))
		c.stats.Operation(c.rank, len(msg))
		return p.PutSend(dst, src, msg)
	}
	if err := c.Put(dst, src, 0); err != nil {
		return err
	}
	return c.Send(msg)
}
