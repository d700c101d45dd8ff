package shm

import (
	"fmt"
	"math"

	"github.com/golaunch/golaunch/transport"
)

// The control block, in words. Counter and closed have lines of their own
// because others write or poll them.
const (
	controlMagic = uint64(0x3130_6d68_732f_6c67) // "gl/shm01"; the digits are the layout's version

	magicAt     = 0
	ranksAt     = 1
	closedAt    = 2
	announcedAt = lineBytes / wordBytes
	chunksAt    = 2 * announcedAt
	entriesAt   = chunksAt + maxChunks*placeWords

	placeWords = 4 // segment, offset, length, unused
)

// A control block tells peers what a rank has: regions, and whether it is closed;
// and takes announcements of rings. See the package comment for who writes what.
type control struct {
	memory
	ranks int
}

func controlBytes(ranks int) int { return (entriesAt + ranks*placeWords) * wordBytes }

// makeControl lays a control block over zeroed memory.
func makeControl(b []byte, ranks int) (control, error) {
	m, err := overlay(b)
	if err != nil {
		return control{}, err
	}
	m.words[ranksAt].Store(uint64(ranks))
	m.words[magicAt].Store(controlMagic)
	return control{m, ranks}, nil
}

// openControl takes the control block that a peer of the same job laid over b.
func openControl(b []byte, ranks int) (control, error) {
	if len(b) < controlBytes(ranks) {
		return control{}, fmt.Errorf("control block of %d bytes, %d ranks need %d", len(b), ranks, controlBytes(ranks))
	}
	m, err := overlay(b)
	if err != nil {
		return control{}, err
	}
	if magic := m.words[magicAt].Load(); magic != controlMagic {
		return control{}, fmt.Errorf("control block begins with %#x and not with %#x: another version", magic, controlMagic)
	}
	if n := m.words[ranksAt].Load(); n != uint64(ranks) {
		return control{}, fmt.Errorf("control block is of a job of %d ranks, this one has %d", n, ranks)
	}
	return control{m, ranks}, nil
}

func (c control) close()       { c.words[closedAt].Store(1) }
func (c control) closed() bool { return c.words[closedAt].Load() != 0 }

// announce leaves the place of rank's ring for the owner to find.
func (c control) announce(rank int, ring transport.Remote) {
	c.writePlace(entriesAt+rank*placeWords, ring)
	c.words[announcedAt].Add(1)
}

// announced changes whenever a ring was announced.
func (c control) announced() uint64 { return c.words[announcedAt].Load() }

// ring returns where rank's ring is, if it announced one.
func (c control) ring(rank int) (transport.Remote, bool) {
	return c.readPlace(entriesAt + rank*placeWords)
}

func (c control) setChunk(k int, place transport.Remote) {
	c.writePlace(chunksAt+k*placeWords, place)
}

func (c control) chunk(k int) (transport.Remote, bool) {
	return c.readPlace(chunksAt + k*placeWords)
}

// writePlace publishes r: the length last, since 0 means "nothing here".
//
// Precondition: r.Len > 0.
func (c control) writePlace(at int, r transport.Remote) {
	c.words[at].Store(r.Key)
	c.words[at+1].Store(uint64(r.Offset))
	c.words[at+2].Store(uint64(r.Len))
}

// readPlace returns what another process wrote; reach checks it.
func (c control) readPlace(at int) (transport.Remote, bool) {
	length := c.words[at+2].Load()
	if length == 0 {
		return transport.Remote{}, false
	}
	return transport.Remote{
		Key:    c.words[at].Load(),
		Offset: int64(min(c.words[at+1].Load(), math.MaxInt64)),
		Len:    int64(min(length, math.MaxInt64)),
	}, true
}
