package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/window/element"
)

// A NIC's atomic operations are atomic with each other and not with a CPU's
// (IBV_ATOMIC_HCA). So those of a window are the CPUs', carried out over a NIC by the
// target's service, unless every rank declares by NICAtomics that it uses none but those
// that a NIC has. Then they are all the NIC's of the target, also the owner's own and
// those of the ranks of its host. Which of the two it is all ranks decide alike, in
// Allocate, for as long as the window lives.

// NICAtomics declares that the window's atomic operations are FetchAdd, CompareAndSwap,
// and FetchAndOp with Sum or NoOp, on elements of 8 bytes; sums are of integers. Others are errors then. All
// ranks give it, or none. Where the window's ranks are on several hosts and all have an
// RDMA device, these operations are the devices', which takes none of the target's time,
// and makes those of the owner and of ranks of its host slower; elsewhere it changes
// nothing but what is an error.
func NICAtomics(o *options) { o.nicAtomics = true }

// errNotNIC: NICAtomics has promised that this does not happen.
var errNotNIC = errors.New("a window with NICAtomics has no other atomic operations than FetchAdd, CompareAndSwap, and FetchAndOp with Sum or NoOp, and sums of integers only")

// What a rank says of a window's mode when it allocates. All but the last must be
// alike.
const (
	modeCoherent   = 1 << iota // Coherent is asked for
	modeFirstTouch             // FirstTouch is
	modeNICAtomics             // NICAtomics is
	modeNIC                    // this rank has a device
)

func (c *core) mode() (flags uint64) {
	if c.coherent != nil {
		flags |= modeCoherent
	}
	if c.caching.firstTouch {
		flags |= modeFirstTouch
	}
	if c.restricted {
		flags |= modeNICAtomics
	}
	if c.in.HasNIC() {
		flags |= modeNIC
	}
	return flags
}

// mayRestrict returns why there cannot be NICAtomics, nil if there can or need not be.
func (c *core) mayRestrict() error {
	switch {
	case !c.restricted:
	case c.coherent != nil:
		return errors.New("NICAtomics with Coherent: a device knows nothing of caches")
	case c.kind.Width != element.Double:
		return fmt.Errorf("NICAtomics with elements of type %v: they are %d bytes long, not 8", c.kind.Type, c.kind.Size)
	}
	return nil
}

// chooseAtomics decides from what all ranks say which mechanism the window has.
func (c *core) chooseAtomics(all []statement) error {
	nics := c.away != nil // so it is for every rank, or for none
	for m, s := range all {
		if (s.values[5]^all[0].values[5])&modeNICAtomics != 0 {
			return &refusal{c.in.WorldRank(m), fmt.Sprintf("it and rank %d do not agree on NICAtomics", c.in.WorldRank(0))}
		}
		nics = nics && s.values[5]&modeNIC != 0
	}
	if c.restricted && nics {
		c.nics = make([]nic, len(all))
	}
	return nil
}

// A nic is where a target's elements are for devices.
type nic struct {
	conn     transport.Conn // the one that Puts go by as well, if the target is on another host
	elements transport.Remote
}

// connectNICs dials the targets, this rank included.
func (c *core) connectNICs(ctx context.Context, offers []statement, counts []int) error {
	for m := range c.nics {
		n := &c.nics[m]
		var err error
		if n.elements, err = c.farElements(offers[m], counts[m]); err == nil {
			n.conn, err = c.in.NICConn(ctx, m)
		}
		if err != nil {
			return fmt.Errorf("the device of rank %d: %w", c.in.WorldRank(m), err)
		}
	}
	return nil
}

// valid returns why the window does not have an atomic operation, nil if it does.
func (c *core) valid(op Op, fetches bool) error {
	if c.restricted && !(fetches && (op == NoOp || op == Sum && c.kind.Native)) {
		return errNotNIC
	}
	return c.kind.Valid(op)
}

// nicFetch has the target's device add delta to an element, and returns what it was.
func (c *core) nicFetch(name string, target, disp int, delta uint64) (uint64, error) {
	return c.nicOperate(name, target, disp, func(n *nic, at transport.Remote, old *uint64, id transport.OpID) error {
		return n.conn.FetchAdd(at, delta, old, id)
	})
}

// nicSwap has it store replacement if the element is expect.
func (c *core) nicSwap(target, disp int, expect, replacement uint64) (uint64, error) {
	return c.nicOperate("CompareAndSwap", target, disp, func(n *nic, at transport.Remote, old *uint64, id transport.OpID) error {
		return n.conn.CompareSwap(at, expect, replacement, old, id)
	})
}

// nicOperate checks what the quick paths check, and waits for the device. No request to
// the target's service can be under way that it would overtake: those without an answer
// are Accumulates.
func (c *core) nicOperate(name string, target, disp int, do func(n *nic, at transport.Remote, old *uint64, id transport.OpID) error) (uint64, error) {
	if !c.allows(target, disp, 1) {
		return 0, c.refuse(name, target, disp, 1)
	}
	n := &c.nics[target]
	const size = 8
	at, err := n.elements.Slice(int64(disp)*size, size)
	if err != nil {
		return 0, c.failed(name, target, disp, 1, err)
	}
	old, err := c.fetchWord(target, func(old *uint64, id transport.OpID) error { return do(n, at, old, id) })
	return old, c.failed(name, target, disp, 1, err)
}
