package world

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// Undefined is the color of a rank that becomes a member of no new communicator
// (MPI_UNDEFINED).
const Undefined = -1

// Signatures of the rounds of this package. Those of package collectives have
// the highest bit set.
const (
	sigSplit uint32 = iota + 1
	sigSplitMemory
	sigGroup
	sigFree
	sigSplitReady
)

// Split makes new communicators, one for each color, of the members that gave
// it, ordered by key and, where keys are equal, by rank in c (MPI-5.0 section
// 7.4.2). It is collective. A rank whose color is Undefined gets nil. Colors are
// not negative otherwise.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	if color < Undefined {
		return nil, fmt.Errorf("rank %d: Split with color %d: want 0 or more, or Undefined", c.process.rank, color)
	}
	if err := c.enter(OpSplit); err != nil {
		return nil, err
	}
	defer c.exit()
	members, err := c.members(ctx, color, key)
	if err != nil {
		return nil, c.fail(OpSplit, err)
	}
	return c.derive(ctx, OpSplit, fmt.Sprintf("%s/%d", c.name, color), color, members)
}

// Dup makes a communicator with the same members in the same order (MPI-5.0
// section 7.4.2). Collectives on both may be under way at once. It is collective.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	if err := c.enter(OpDup); err != nil {
		return nil, err
	}
	defer c.exit()
	members := make([]int, c.Size())
	for i := range members {
		members[i] = i
	}
	return c.derive(ctx, OpDup, c.name+"/dup", 0, members)
}

// members agrees on who gets into this rank's new communicator.
func (c *Comm) members(ctx context.Context, color, key int) ([]int, error) {
	room := c.group.Room()[:16]
	binary.LittleEndian.PutUint64(room, uint64(color))
	binary.LittleEndian.PutUint64(room[8:], uint64(key))
	c.group.Publish(sigSplit, room)
	if err := c.group.WaitAll(ctx); err != nil {
		return nil, err
	}
	var members []int
	keys := make([]int, c.Size())
	for m := range c.Size() {
		p := c.group.Payload(m)
		if len(p) != len(room) {
			return nil, fmt.Errorf("rank %d: a color and key of %d bytes, want %d", c.group.Rank(m), len(p), len(room))
		}
		keys[m] = int(binary.LittleEndian.Uint64(p[8:]))
		if int(binary.LittleEndian.Uint64(p)) == color {
			members = append(members, m)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return members, nil
}

// attend takes part in a round without saying anything.
func (c *Comm) attend(ctx context.Context, signature uint32) error {
	c.group.Publish(signature, nil)
	return c.group.WaitAll(ctx)
}

// derive makes the communicator of the given members of c, among them this rank,
// in memory of the first one of each host. Every member of c takes part in the rounds, with
// members of its own.
//
// Nobody gets the communicator before everybody has it: a member that gave up
// could otherwise not break it, and those that have it would wait for that member
// for ever.
func (c *Comm) derive(ctx context.Context, op Operation, name string, color int, members []int) (*Comm, error) {
	c.children++
	sub, refused, err := c.found(ctx, name, color, members)
	if err == nil {
		err = c.attend(ctx, sigSplitReady)
	}
	if err != nil {
		if sub != nil {
			sub.group.Break(op.String(), err)
			sub.box.Close(errLeft)
			sub.memory.link.close()
		}
		return nil, c.fail(op, err)
	}
	if refused != nil {
		return nil, c.fail(op, refused)
	}
	return sub, nil
}

// found is the round in which the memory is offered and taken. refused is the
// error of the members that would have shared what their first one could not
// offer; c stays whole.
func (c *Comm) found(ctx context.Context, name string, color int, members []int) (sub *Comm, refused, err error) {
	if color == Undefined {
		return nil, nil, c.attend(ctx, sigSplitMemory)
	}
	s, err := c.share(ctx, sigSplitMemory, members)
	if err != nil {
		if _, is := err.(*refusedError); is {
			return nil, err, nil
		}
		return nil, nil, err
	}
	sub, err = c.process.newComm(name, s.mem, s.me, s.link, s.ranks, s)
	if err != nil {
		s.link.close()
		return nil, nil, err
	}
	sub.openBox(c.childContext(color))
	return sub, nil, nil
}
