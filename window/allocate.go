package window

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/window/element"
	"github.com/golaunch/golaunch/window/lock"
)

// An Option changes what Allocate makes.
type Option func(*options)

type options struct {
	name       string
	coherent   bool
	caching    caching
	nicAtomics bool
}

// Name gives the window a name, for errors.
func Name(name string) Option { return func(o *options) { o.name = name } }

// Allocate makes a window over the ranks of comm, with a part of n zeroed elements at
// this rank (MPI_Win_allocate). It is collective over comm; n may differ between ranks, and
// be 0; T is the same at all.
//
// T must hold no Go pointers: numbers, bool, and arrays and structs of them can be
// elements. If one rank cannot take part, for want of memory or because of its
// arguments, every rank gets the same error, which names that rank, and comm can be used
// on. If ctx ends or a rank fails, comm is broken. In either case nothing stays
// allocated.
func Allocate[T any](ctx context.Context, comm *world.Comm, n int, opts ...Option) (*Window[T], error) {
	w := &Window[T]{}
	t := reflect.TypeFor[T]()
	w.what = "window of " + t.String()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if o.name != "" {
		w.what = fmt.Sprintf("window %q", o.name)
	}
	w.restricted, w.caching = o.nicAtomics, o.caching
	if o.coherent {
		w.coherent = &coherent{}
	}
	if err := w.allocate(ctx, comm, t, n); err != nil {
		return nil, err
	}
	return w, nil
}

func (c *core) allocate(ctx context.Context, comm *world.Comm, t reflect.Type, n int) error {
	c.in, c.me, c.arena = world.Of(comm), comm.Rank(), comm.Arena()
	c.away = whoIsAway(c.in, comm.Size())
	if err := c.in.Enter(world.OpAllocate); err != nil {
		return fmt.Errorf("%w (%s)", err, c.what)
	}
	defer c.in.Exit()
	c.number = c.in.NextNumber()
	err := c.make(ctx, t, n)
	if err == nil {
		return nil
	}
	var refused *refusal
	if errors.As(err, &refused) {
		err = c.errorf("Allocate of %s on communicator %q: %w", plural(n), comm.Name(), err)
		c.retire(nil)
		return errors.Join(err, c.closeCoherent(true), c.disown())
	}
	err = c.fail(world.OpAllocate, err)
	c.retire(err)
	return errors.Join(err, c.closeCoherent(false), c.forsake())
}

// make goes through the rounds of Allocate. Until the last one nobody touches what another
// rank has allocated.
func (c *core) make(ctx context.Context, t reflect.Type, n int) error {
	counts, err := c.describe(ctx, t, n)
	if err != nil {
		return err
	}
	c.sizes = counts
	own := n
	if c.coherent != nil {
		own = 0 // the elements are the pager's
		counts = make([]int, len(counts))
	}
	offers, err := c.offer(ctx, own)
	if err != nil {
		return err
	}
	if c.group, err = c.in.NewGroup(ctx, c.what); err != nil {
		return err
	}
	err = c.mapParts(offers, counts)
	if err == nil && c.coherent != nil {
		err = c.openCoherent(offers)
	}
	if err == nil {
		err = c.connectNICs(ctx, offers, counts)
	}
	_, err = agree(ctx, c.in, signatureMapped, refusing(err, statement{}))
	if err != nil {
		return errors.Join(err, c.disband(ctx))
	}
	return nil
}

// describe finds out whether every rank allocates the same thing, how much of it, and
// whether there is memory for that.
func (c *core) describe(ctx context.Context, t reflect.Type, n int) (counts []int, err error) {
	c.kind, err = element.Of(t)
	switch {
	case err != nil:
	case n < 0:
		err = fmt.Errorf("%d elements", n)
	case n > math.MaxInt64/4/c.kind.Size:
		err = fmt.Errorf("%d elements of %d bytes do not fit into an address space", n, c.kind.Size)
	}
	if err == nil {
		err = errors.Join(c.mayRestrict(), c.mayAskFor())
	}
	var mine statement
	if err == nil {
		mine = statement{text: t.String(), values: [values]uint64{uint64(c.kind.Signature()), uint64(c.kind.Size), uint64(n), uint64(c.fresh(n)), c.in.Unique(), c.mode(), uint64(c.caching.limit)}}
	}
	all, err := agree(ctx, c.in, signatureDescribe, refusing(err, mine))
	if err != nil {
		return nil, err
	}
	for m, s := range all {
		if s.values[0] != all[0].values[0] || s.values[1] != all[0].values[1] || s.text != all[0].text {
			return nil, &refusal{c.in.WorldRank(m), fmt.Sprintf("its elements are of type %s (%d bytes), those of rank %d of type %s (%d bytes)",
				s.text, s.values[1], c.in.WorldRank(0), all[0].text, all[0].values[1])}
		}
		if err := c.differ(m, s, all[0]); err != nil {
			return nil, err
		}
		counts = append(counts, int(s.values[2]))
	}
	if err := c.chooseAtomics(all); err != nil {
		return nil, err
	}
	if c.coherent != nil {
		c.coherent.number = all[0].values[4]
	}
	c.native = c.kind.Native && c.nics == nil
	return counts, c.admit(ctx, all)
}

// offer allocates this rank's memory and tells the others where it is.
func (c *core) offer(ctx context.Context, n int) ([]statement, error) {
	err := c.acquire(n)
	var mine statement
	if err == nil && c.coherent != nil {
		mine.text, err = c.meetPager(ctx)
	}
	if err == nil {
		near, far := c.own.region.Remote(), c.own.region.Far()
		mine.values = [values]uint64{near.Key, uint64(near.Offset), uint64(near.Len), far.Key, uint64(far.Offset)}
		if c.away != nil {
			c.service = newService(c)
			mine.values[5] = uint64(c.service.port.Number())
		}
	}
	return agree(ctx, c.in, signatureOffer, refusing(err, mine))
}

// pageSize is from where on the arena aligns to it, which is more than blocks need.
const pageSize = 4096

func (c *core) acquire(n int) (err error) {
	if c.own.memory, err = arena.Alloc[byte](c.arena, int(c.bytes(n))); err != nil {
		return err
	}
	c.own.region, err = c.in.Register(c.own.memory)
	return err
}

// The layout of a rank's memory: its lock's block, the latches of its ranges, if the kind
// needs them, and the elements.
func (c *core) latchesAt() int { return lock.Size(c.in.Group().Size()) }

func (c *core) elementsAt() int {
	if c.kind.Width == element.Ranged {
		return c.latchesAt() + lock.LatchesSize
	}
	return c.latchesAt()
}

// mapParts makes this rank's view of every part.
func (c *core) mapParts(offers []statement, counts []int) error {
	members := len(offers)
	c.parts, c.locks = make([]part, members), make([]seat, members)
	if c.kind.Width == element.Ranged {
		c.latches = make([]lock.Latches, members)
	}
	ports := make([]uint32, members)
	for m, o := range offers {
		ports[m] = uint32(o.values[5])
		if err := c.mapPart(m, o, counts[m]); err != nil {
			return fmt.Errorf("the part of rank %d: %w", c.in.WorldRank(m), err)
		}
	}
	if c.service == nil {
		return nil
	}
	return c.service.open(ports)
}

func (c *core) mapPart(m int, o statement, count int) error {
	if c.away != nil && c.away[m] {
		return c.viewRemote(m, o, count)
	}
	mem := c.own.memory
	if m != c.me {
		var err error
		r := transport.Remote{Key: o.values[0], Offset: int64(o.values[1]), Len: int64(o.values[2])}
		if mem, err = c.in.Map(m, r); err != nil {
			return err
		}
	}
	return c.view(m, mem, count)
}

// viewRemote makes the part of a rank on another host.
func (c *core) viewRemote(m int, o statement, count int) error {
	elements, err := c.farElements(o, count)
	if err != nil {
		return err
	}
	r := &remote{target: m, elements: elements, port: uint32(o.values[5]), cpuAtomics: c.in.CPUAtomics(m)}
	c.remotes = append(c.remotes, r)
	c.parts[m] = newRemotePart(r)
	c.locks[m].InitElsewhere()
	return nil
}

// farElements is where a part's elements are for ranks of other hosts.
func (c *core) farElements(o statement, count int) (transport.Remote, error) {
	all := transport.Remote{Key: o.values[3], Offset: int64(o.values[4]), Len: int64(o.values[2])}
	return all.Slice(int64(c.elementsAt()), int64(count*c.kind.Size))
}

// view checks what the memory of a part's rank must hold before it is used.
func (c *core) view(m int, mem []byte, count int) error {
	if want := c.elementsAt() + count*c.kind.Size; len(mem) < want {
		return fmt.Errorf("%d bytes, want %d for %s", len(mem), want, plural(count))
	}
	members := len(c.parts)
	if err := c.locks[m].Init(mem, c.me, members, c.peers(m)); err != nil {
		return err
	}
	c.parts[m] = newPart(mem[c.elementsAt():], count)
	if c.latches == nil {
		return nil
	}
	var err error
	c.latches[m], err = lock.InitLatches(mem[c.latchesAt():], c.me, members, c.peers(m))
	return err
}
