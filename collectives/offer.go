package collectives

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
)

// An offer is what a rank publishes at the start of a large operation: what the
// signature has no room for, and where its buffers are, if in its arena.
type offer struct {
	bytes, root   int
	hasIn, hasOut bool
	in, out       arena.Extent
}

// The layout of an offer: six 8-byte words: bytes, root, which buffers are there,
// key and offset of in, key and offset of out.
const offerSize = 7 * 8

const (
	offersIn  = 1
	offersOut = 2
)

func (o *offer) encode(dst []byte) {
	flags := uint64(0)
	if o.hasIn {
		flags |= offersIn
	}
	if o.hasOut {
		flags |= offersOut
	}
	words := [7]uint64{
		uint64(o.bytes), uint64(o.root), flags, o.in.Key, uint64(o.in.Offset), o.out.Key, uint64(o.out.Offset),
	}
	for i, w := range words {
		binary.LittleEndian.PutUint64(dst[8*i:], w)
	}
}

// decodeOffer reads what encode wrote.
func decodeOffer(src []byte) (offer, error) {
	if len(src) != offerSize {
		return offer{}, fmt.Errorf("an offer of %d bytes, want %d", len(src), offerSize)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(src[8*i:]) }
	flags := word(2)
	return offer{
		bytes: int(word(0)), root: int(word(1)), hasIn: flags&offersIn != 0, hasOut: flags&offersOut != 0,
		in:  arena.Extent{Key: word(3), Offset: int64(word(4))},
		out: arena.Extent{Key: word(5), Offset: int64(word(6))},
	}, nil
}

// open is the first round of a large operation: the ranks learn that all have
// come, that they agree, and where everybody's buffers are (e.offers).
func (e *engine) open(ctx context.Context, c *call, in, out []byte) error {
	mine := offer{bytes: c.bytes, root: c.root}
	if len(in) > 0 && e.hosts == "" {
		mine.in, mine.hasIn = e.inside.Locate(in)
	}
	if len(out) > 0 && e.hosts == "" {
		mine.out, mine.hasOut = e.inside.Locate(out)
	}
	if err := e.exchangeOffers(ctx, c, c.opening(), &mine); err != nil {
		return err
	}
	return e.agree(c)
}

// exchangeOffers is a round in which everybody publishes an offer (e.offers).
func (e *engine) exchangeOffers(ctx context.Context, c *call, signature uint32, mine *offer) error {
	room := e.group.Room()[:offerSize]
	mine.encode(room)
	if err := e.round(ctx, c, signature, room); err != nil {
		return err
	}
	for member := range e.offers {
		o, err := decodeOffer(e.group.Payload(member))
		if err != nil {
			return fmt.Errorf("rank %d: %w", member, err)
		}
		e.offers[member] = o
	}
	return nil
}

// agree compares what the signature has no room for.
func (e *engine) agree(c *call) error {
	for member, o := range e.offers {
		if o.bytes != c.bytes || o.root != c.root {
			theirs := *c
			theirs.bytes, theirs.root = o.bytes, o.root
			return &MismatchError{Rank: member, Mine: c.String(), Theirs: theirs.String()}
		}
	}
	return nil
}

// round publishes a payload and waits for everybody.
func (e *engine) round(ctx context.Context, c *call, signature uint32, payload []byte) error {
	e.group.Publish(signature, payload)
	if err := e.group.WaitAll(ctx); err != nil {
		return e.explain(c, err)
	}
	return nil
}
