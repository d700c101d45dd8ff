package collectives

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/collectives/link"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/transport"
)

// Between hosts, streams go over links. The ranks agree on them once, in a round of
// the communicator before its first stream: everybody says where the rings are into
// which the others write, and at which port it hears how far they are.

// links are what a rank has of them.
type links struct {
	rings   []byte // a ring for every member, in their order
	region  transport.Region
	port    *world.Port
	readers []*link.Reader // by member; nil for those of this host
	writers []*link.Writer
	member  map[int]int // by rank of the world
}

// A ring holds a few pieces, so that writer and reader both have something to do.
// Those of many ranks are smaller: a rank has ringsBytes of them.
const (
	ringBytes  = 2 << 20
	ringsBytes = 32 << 20
	leastRing  = 64 << 10
)

func ringSize(members int) int {
	size := ringBytes
	for size > leastRing && size*members > ringsBytes {
		size /= 2
	}
	return size
}

// sigLinks is the signature of the round in which the ranks agree on their links.
const sigLinks = sigOurs | uint32(calls)<<whatAt

// connect makes the links of a communicator over several hosts, unless they are
// there.
func (e *engine) connect(ctx context.Context) error {
	if e.hosts == "" || e.links != nil {
		return nil
	}
	l, err := e.newLinks()
	if err != nil {
		return err
	}
	if err = e.introduce(ctx, l); err != nil {
		return errors.Join(err, l.close())
	}
	e.links = l
	for m, w := range l.writers {
		if w != nil {
			e.outlets[m], e.inlets[m] = w, linkInlet{l.readers[m]}
		}
	}
	return nil
}

func (e *engine) newLinks() (*links, error) {
	size := ringSize(e.size)
	l := &links{
		rings:   make([]byte, size*e.size),
		readers: make([]*link.Reader, e.size), writers: make([]*link.Writer, e.size), member: map[int]int{},
	}
	far := -1
	for m := range e.size {
		l.member[e.inside.WorldRank(m)] = m
		if !e.inside.Local(m) {
			far = m
		}
	}
	var err error
	if l.region, err = e.inside.RegisterFor(far, l.rings); err != nil {
		return nil, err
	}
	l.port = e.inside.OpenPort(l.hear)
	return l, nil
}

// introduce is the round: afterwards every rank can write to every other one.
func (e *engine) introduce(ctx context.Context, l *links) error {
	room := e.group.Room()[:introductionSize]
	introduction{l.region.Remote(), l.port.Number()}.encode(room)
	e.group.Publish(sigLinks, room)
	if err := e.group.WaitAll(ctx); err != nil {
		return err
	}
	for m := range e.size {
		theirs, err := decodeIntroduction(e.group.Payload(m), len(l.rings))
		if err != nil {
			return fmt.Errorf("rank %d: %w", m, err)
		}
		if e.inside.Local(m) {
			continue
		}
		if err := e.join(ctx, l, m, theirs); err != nil {
			return err
		}
	}
	// Nobody writes before everybody can hear.
	e.group.Publish(sigLinks+1, nil)
	return e.group.WaitAll(ctx)
}

// join makes both ends of this rank to a member of another host.
func (e *engine) join(ctx context.Context, l *links, m int, theirs introduction) error {
	size := len(l.rings) / e.size
	if _, err := e.inside.Conn(ctx, m); err != nil {
		return err
	}
	ring, err := theirs.rings.Slice(int64(e.me*size), int64(size))
	if err != nil {
		return fmt.Errorf("rank %d: its rings: %w", m, err)
	}
	x := &ends{inside: e.inside, member: m, ring: ring, port: theirs.port}
	x.writer = link.NewWriter(size, x.put, func(uint64) error { return x.tell() })
	x.reader = link.NewReader(l.rings[m*size:][:size:size], func(uint64) error {
		_ = x.tell() // a writer that has left, or died, needs no room
		return nil
	})
	l.writers[m], l.readers[m] = x.writer, x.reader
	return nil
}

// ends are both ends of this rank to a member: what one says, it says of the other,
// too.
type ends struct {
	inside *world.Inside
	member int
	ring   transport.Remote // there
	port   uint32           // there
	writer *link.Writer
	reader *link.Reader
	told   [world.PrefixSize + tellingSize]byte
}

// put stores bytes in the member's ring and tells it.
func (x *ends) put(offset int, b []byte, _ uint64) error {
	at, err := x.ring.Slice(int64(offset), int64(len(b)))
	if err != nil {
		return err
	}
	return x.inside.PutSend(context.Background(), x.member, at, b, x.port, x.telling())
}

func (x *ends) tell() error {
	return x.inside.Send(context.Background(), x.member, x.port, x.telling()[world.PrefixSize:])
}

// telling is what there is to tell, behind room for a prefix.
func (x *ends) telling() []byte {
	telling{x.writer.At(), x.reader.At()}.encode(x.told[world.PrefixSize:])
	return x.told[:]
}

// hear is told by the other ends how far they are. What waits looks again after
// every message.
func (l *links) hear(from int, msg []byte) {
	t, err := decodeTelling(msg)
	m, ok := l.member[from]
	if err != nil || !ok || l.readers[m] == nil {
		return
	}
	l.readers[m].Written(t.written)
	l.writers[m].Taken(t.taken)
}

// close gives the links up.
func (l *links) close() error {
	if l == nil {
		return nil
	}
	l.port.Close()
	return l.region.Close()
}

// An introduction is what a rank says of itself: where its rings are, and its port.
type introduction struct {
	rings transport.Remote
	port  uint32
}

const introductionSize = 4 * 8

func (i introduction) encode(dst []byte) {
	for k, w := range [...]uint64{i.rings.Key, uint64(i.rings.Offset), uint64(i.rings.Len), uint64(i.port)} {
		binary.LittleEndian.PutUint64(dst[8*k:], w)
	}
}

func decodeIntroduction(src []byte, rings int) (introduction, error) {
	if len(src) != introductionSize {
		return introduction{}, fmt.Errorf("an introduction of %d bytes, want %d", len(src), introductionSize)
	}
	word := func(k int) uint64 { return binary.LittleEndian.Uint64(src[8*k:]) }
	i := introduction{transport.Remote{Key: word(0), Offset: int64(word(1)), Len: int64(word(2))}, uint32(word(3))}
	if i.rings.Offset < 0 || i.rings.Len != int64(rings) || word(3) != uint64(i.port) {
		return introduction{}, fmt.Errorf("an introduction with %d bytes at %d and port %d", i.rings.Len, i.rings.Offset, word(3))
	}
	return i, nil
}

// A telling is what the ends of a link say to each other: how much they have written
// and taken so far.
type telling struct{ written, taken uint64 }

const tellingSize = 16

func (t telling) encode(dst []byte) {
	binary.LittleEndian.PutUint64(dst, t.written)
	binary.LittleEndian.PutUint64(dst[8:], t.taken)
}

func decodeTelling(src []byte) (telling, error) {
	if len(src) != tellingSize {
		return telling{}, fmt.Errorf("a message of %d bytes that is none of a link", len(src))
	}
	return telling{binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])}, nil
}
