package router

import (
	"context"

	"github.com/golaunch/golaunch/transport"
)

// A sendPutSender is a transport.PutSender that does a Send before these, together with them.
type sendPutSender interface {
	SendPutSend(before []byte, dst transport.Remote, src, then []byte) error
}

// PutSend puts src to memory of a rank and sends, behind it, a message that begins
// PrefixSize bytes behind the beginning of buf, as SendInPlace does. Both may be
// reused when it returns.
func (r *Router) PutSend(ctx context.Context, rank int, dst transport.Remote, src []byte, port uint32, buf []byte) error {
	return r.SendPutSend(ctx, rank, nil, dst, src, port, buf)
}

// SendPutSend is PutSend with another such message before it, unless before is nil.
func (r *Router) SendPutSend(ctx context.Context, rank int, before []byte, dst transport.Remote, src []byte, port uint32, then []byte) error {
	c, err := r.Conn(ctx, rank)
	if err != nil {
		return err
	}
	if before != nil {
		PutPrefix(before, port)
	}
	PutPrefix(then, port)
	if err := sendPutSend(c, before, dst, src, then); err != nil {
		return r.errorf(rank, "message", err)
	}
	return nil
}

func sendPutSend(c transport.Conn, before []byte, dst transport.Remote, src, then []byte) error {
	if p, ok := c.(sendPutSender); ok {
		return p.SendPutSend(before, dst, src, then)
	}
	return apart(c, before, dst, src, then)
}

// apart is SendPutSend of a connection that has none.
func apart(c transport.Conn, before []byte, dst transport.Remote, src, then []byte) error {
	if before != nil {
		if err := c.Send(before); err != nil {
			return err
		}
	}
	if err := c.Put(dst, src, 0); err != nil {
		return err
	}
	return c.Send(then)
}

func (c *counted) SendPutSend(before []byte, dst transport.Remote, src, then []byte) error {
	p, ok := c.Conn.(sendPutSender)
	if !ok {
		return apart(c, before, dst, src, then)
	}
	for _, b := range [...][]byte{before, src, then} {
		if b != nil {
			c.stats.Operation(c.rank, len(b))
		}
	}
	return p.SendPutSend(before, dst, src, then)
}
