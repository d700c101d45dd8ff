package world

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/runtime/job"
)

// A rank's address is that of its endpoint in shared memory and that of its
// way to other hosts (package far), if it has one: the first one's length (1 byte), the
// first one, the second one.

func encodeAddress(near, far []byte) ([]byte, error) {
	if len(near) == 0 || len(near) > 255 {
		return nil, fmt.Errorf("an address in shared memory of %d bytes", len(near))
	}
	return append(append([]byte{byte(len(near))}, near...), far...), nil
}

func decodeAddress(b []byte) (near, far []byte, err error) {
	if len(b) == 0 || b[0] == 0 || int(b[0]) >= len(b) {
		return nil, nil, fmt.Errorf("an address of %d bytes makes no sense", len(b))
	}
	n := 1 + int(b[0])
	return b[1:n:n], b[n:], nil
}

// announce tells the other ranks how they reach this one. Whatever they may send
// to must be ready.
func (p *process) announce() error {
	var far []byte
	near := p.near.Addr()
	if p.far != nil {
		far = p.far.Addr(job.MaxAddress - 1 - len(near))
	}
	address, err := encodeAddress(near, far)
	if err != nil {
		return err
	}
	if p.far == nil {
		return p.mem.SetAddress(p.rank, address)
	}
	return p.supervisor.SetAddress(address)
}

// addressOf waits for a rank's address.
func (p *process) addressOf(ctx context.Context, rank int) (near, far []byte, err error) {
	if err := p.waiter.Until(ctx, &addressed{p, rank}); err != nil {
		return nil, nil, err
	}
	return decodeAddress(p.mem.Address(rank))
}

// addressed is the condition that a rank has announced itself. A rank that has
// ended has an address, too, if it ever had one.
type addressed struct {
	process *process
	rank    int
}

func (c *addressed) Ready() bool { return c.process.mem.HasAddress(c.rank) }

func (c *addressed) Err() error { return c.process.mem.Failure(c.rank) }
