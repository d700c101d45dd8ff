package world

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/pipe"
)

// pipes are a communicator's streams between pairs of members, each made when it
// is first written to, in memory of the writer.
//
// A reader finds it by two steps: the writer's notice in the group says where the
// writer's directory is, and its entry for the reader says where the pipe is.
// Both are atomic words, stored after what they point to is ready, and zero until
// then.
type pipes struct {
	comm      *Comm
	directory directory // this member's; nil before it first writes
	others    []directory
	writers   []*pipe.Writer
	readers   []*pipe.Reader
	own       [][]byte // to be freed
}

func newPipes(c *Comm) *pipes {
	n := c.group.Size()
	return &pipes{comm: c, others: make([]directory, n), writers: make([]*pipe.Writer, n), readers: make([]*pipe.Reader, n)}
}

// Writer returns the pipe from this member to another one of its host.
func (in *Inside) Writer(member int) (*pipe.Writer, error) {
	p := in.comm.pipes
	if w := p.writers[member]; w != nil {
		return w, nil
	}
	if !in.Local(member) {
		return nil, fmt.Errorf("pipe to rank %d: it is on another host", in.WorldRank(member))
	}
	w, err := p.make(member)
	if err != nil {
		return nil, fmt.Errorf("pipe to rank %d: %w", p.comm.group.Rank(member), err)
	}
	p.writers[member] = w
	in.comm.group.Ring(member)
	return w, nil
}

// Reader returns the pipe from another member of the host to this one, nil as long as that
// member has not made it.
func (in *Inside) Reader(member int) (*pipe.Reader, error) {
	p := in.comm.pipes
	if r := p.readers[member]; r != nil {
		return r, nil
	}
	r, err := p.find(member)
	if err != nil {
		return nil, fmt.Errorf("pipe from rank %d: %w", p.comm.group.Rank(member), err)
	}
	p.readers[member] = r
	return r, nil
}

func (p *pipes) make(member int) (*pipe.Writer, error) {
	if p.directory == nil {
		if err := p.makeDirectory(); err != nil {
			return nil, err
		}
	}
	mem, where, err := p.allocate(pipe.Size)
	if err != nil {
		return nil, err
	}
	w, err := pipe.OpenWriter(mem)
	if err != nil {
		return nil, err
	}
	p.directory[member].Store(where)
	return w, nil
}

func (p *pipes) makeDirectory() error {
	mem, where, err := p.allocate(8 * p.comm.Size())
	if err != nil {
		return err
	}
	p.directory = directoryIn(mem)
	p.comm.group.Notice(p.comm.Rank()).Store(where)
	return nil
}

// allocate returns zeroed memory of this rank's arena and the word that tells
// peers where it is.
func (p *pipes) allocate(bytes int) (mem []byte, where uint64, err error) {
	process := p.comm.process
	if mem, err = arena.Alloc[byte](process.arena, bytes); err != nil {
		return nil, 0, err
	}
	p.own = append(p.own, mem)
	at, ok := process.arena.Locate(mem)
	if !ok {
		return nil, 0, errNotArena
	}
	where, err = pack(at)
	return mem, where, err
}

func (p *pipes) find(member int) (*pipe.Reader, error) {
	rank := p.comm.group.Rank(member)
	if p.others[member] == nil {
		mem, err := p.reach(rank, p.comm.group.Notice(member).Load(), 8*p.comm.Size())
		if mem == nil || err != nil {
			return nil, err
		}
		p.others[member] = directoryIn(mem)
	}
	mem, err := p.reach(rank, p.others[member][p.comm.Rank()].Load(), pipe.Size)
	if mem == nil || err != nil {
		return nil, err
	}
	return pipe.OpenReader(mem)
}

// reach maps what a word of allocate points to; nil for the word 0.
func (p *pipes) reach(rank int, where uint64, bytes int) ([]byte, error) {
	if where == 0 {
		return nil, nil
	}
	return p.comm.process.segments.at(p.comm.process.ctx, rank, unpack(where), int64(bytes))
}

// free gives the pipes back. Every member has stopped using them.
func (p *pipes) free() error {
	var err error
	for _, mem := range p.own {
		err = errors.Join(err, arena.Free(p.comm.process.arena, mem))
	}
	p.own = nil
	return err
}

// A word says where memory is: a bit that is always set, 24 bits of segment key
// and 39 bits of offset in units of 64 bytes.
const (
	wordSet    = 1 << 63
	keyBits    = 24
	offsetBits = 39
	unit       = 64
)

func pack(r arena.Extent) (uint64, error) {
	if r.Key >= 1<<keyBits || r.Offset < 0 || r.Offset%unit != 0 || r.Offset/unit >= 1<<offsetBits {
		return 0, fmt.Errorf("segment %d, offset %d cannot be told in one word", r.Key, r.Offset)
	}
	return wordSet | r.Key<<offsetBits | uint64(r.Offset/unit), nil
}

func unpack(word uint64) arena.Extent {
	return arena.Extent{
		Key:    word >> offsetBits & (1<<keyBits - 1),
		Offset: int64(word&(1<<offsetBits-1)) * unit,
	}
}
