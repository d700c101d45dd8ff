package messages

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

const (
	// Eager is the length of the longest message that is sent without asking the
	// receiver.
	Eager = router.MaxMessage - rendezvous.EagerBytes

	headBytes = router.PrefixSize + rendezvous.EagerBytes

	// MaxTag is the largest tag (MPI_TAG_UB).
	MaxTag = 1<<31 - 1
)

// check refuses what cannot be sent or received.
func (b *Box) check(send bool, peer, tag int) error {
	least := 0
	if !send {
		least = AnySource
	}
	switch {
	case peer < least || peer >= len(b.ranks):
		return fmt.Errorf("rank %d of %d", peer, len(b.ranks))
	case tag < least || tag > MaxTag:
		return fmt.Errorf("tag %d: want 0 to %d", tag, MaxTag)
	case b.ended.Load():
		return errEnded
	}
	return nil
}

// Send sends data to a member and returns when data may be used again.
func (b *Box) Send(ctx context.Context, member, tag int, data []byte) error {
	if err := b.check(true, member, tag); err != nil {
		return b.m.refuse(b, true, member, tag, data, err)
	}
	if len(data) <= Eager {
		if err := b.eager(ctx, member, tag, data); err != nil {
			return b.m.refuse(b, true, member, tag, data, err)
		}
		return nil
	}
	if sent, err := b.stage(ctx, member, tag, data); err != nil {
		return b.m.refuse(b, true, member, tag, data, err)
	} else if sent {
		return nil
	}
	r := b.m.begin()
	b.prepare(r, true, member, tag, data)
	r.attended = true
	if err := b.announce(ctx, r); err != nil {
		return b.m.refuse(b, true, member, tag, data, err)
	}
	_, err := b.m.finish(ctx, r)
	return err
}

// ISend begins a Send. data must not be written to before the request has ended.
func (b *Box) ISend(ctx context.Context, member, tag int, data []byte) (*Request, error) {
	if err := b.check(true, member, tag); err != nil {
		return nil, b.m.refuse(b, true, member, tag, data, err)
	}
	r := new(Request)
	b.prepare(r, true, member, tag, data)
	sent, err := true, error(nil)
	if len(data) <= Eager {
		err = b.eager(ctx, member, tag, data)
	} else if sent, err = b.stage(ctx, member, tag, data); err == nil && !sent {
		err = b.announce(ctx, r)
	}
	if err != nil {
		return nil, r.errorf(err)
	}
	if sent {
		r.over.Store(true)
	}
	return r, nil
}

// refuse is the error of an operation that did not begin.
func (m *Messages) refuse(b *Box, send bool, peer, tag int, data []byte, err error) error {
	r := Request{box: b, send: send, peer: peer, tag: tag, data: data}
	return r.errorf(err)
}

// prepare fills a request in.
func (b *Box) prepare(r *Request, send bool, peer, tag int, data []byte) {
	r.box, r.send, r.peer, r.tag, r.data, r.world, r.from = b, send, peer, tag, data, -1, -1
	if peer >= 0 {
		r.world = b.ranks[peer]
	}
}

// A frame is room for a packet with what the router puts before it.
type frame struct {
	bytes [router.PrefixSize + router.MaxMessage]byte
}

// An express is a connection that sends words and what follows them as one message,
// if that needs not wait and nothing is wrong.
type express interface {
	TryGather(head [3]uint64, body []byte) (sent bool)
}

// eager sends a short message.
func (b *Box) eager(ctx context.Context, member, tag int, data []byte) error {
	if x := b.express[member].Load(); x != nil {
		head := [3]uint64{router.Prefix(Port)}
		head[1], head[2] = rendezvous.EagerHead(b.context, int32(tag))
		if (*x).TryGather(head, data) {
			relax.Store(&b.m.sent, 1)
			return nil
		}
	}
	return b.slow(ctx, member, tag, data)
}

// slow sends a short message for which there is no room, or the first one.
func (b *Box) slow(ctx context.Context, member, tag int, data []byte) error {
	f := b.m.frames.take()
	packet := f.bytes[:headBytes+len(data)]
	rendezvous.PutEager(packet[router.PrefixSize:], b.context, int32(tag))
	copy(packet[headBytes:], data)
	err := b.m.cfg.Router.SendInPlace(ctx, b.ranks[member], Port, packet)
	b.m.frames.give(f)
	if err == nil && b.express[member].Load() == nil {
		if c, err := b.m.cfg.Router.Conn(ctx, b.ranks[member]); err == nil {
			if x, ok := c.(express); ok {
				b.express[member].Store(&x)
			}
		}
	}
	return err
}

// announce tells the receiver of a long message. After nil, r has an id and ends
// by itself.
func (b *Box) announce(ctx context.Context, r *Request) error {
	m := b.m
	p := rendezvous.ReadyPacket{Context: b.context, Tag: int32(r.tag), Length: int64(len(r.data))}
	if m.cfg.Local(r.world) {
		if err := m.offer(r, &p); err != nil {
			return err
		}
	}
	m.mu.Lock()
	if m.closed != nil {
		m.mu.Unlock()
		m.recall(r)
		return m.closed
	}
	m.requests.add(r)
	p.ID = r.id
	at := m.porches.use(r, &p)
	m.mu.Unlock()
	waiting.Published()
	if err := m.tellReady(ctx, r, &p, at); err != nil {
		m.mu.Lock()
		m.requests.remove(r)
		m.porches.granted(r.world, rendezvous.GrantPacket{Slot: p.Slot, Place: at})
		m.mu.Unlock()
		m.recall(r)
		return err
	}
	if at.Len >= int64(len(r.data)) {
		m.endWith(r, Status{}, nil)
	}
	return nil
}

// tellReady tells the receiver of a long message, whose beginning follows if there is a
// place for it.
func (m *Messages) tellReady(ctx context.Context, r *Request, p *rendezvous.ReadyPacket, at rendezvous.Place) error {
	if p.Slot == 0 {
		return m.tell(ctx, r.world, p.Append)
	}
	f, g := m.frames.take(), m.frames.take()
	defer m.frames.give(f)
	defer m.frames.give(g)
	begun := rendezvous.BegunPacket{ID: p.ID}
	return m.cfg.Router.SendPutSend(ctx, r.world, p.Append(f.bytes[:router.PrefixSize]), transport.Remote(at),
		r.data[:min(at.Len, int64(len(r.data)))], Port, begun.Append(g.bytes[:router.PrefixSize]))
}

// tell sends a packet. It may wait for credit.
func (m *Messages) tell(ctx context.Context, rank int, appendTo func([]byte) []byte) error {
	f := m.frames.take()
	defer m.frames.give(f)
	packet := appendTo(f.bytes[:router.PrefixSize])
	return m.cfg.Router.SendInPlace(ctx, rank, Port, packet)
}

// answer posts a packet: it does not wait.
func (m *Messages) answer(rank int, packet []byte) error {
	return m.cfg.Router.Post(rank, Port, packet)
}
