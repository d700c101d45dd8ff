package world

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/transport"
)

// A Region is memory of this rank that members can reach.
type Region struct {
	near transport.Region
	far  transport.Region // nil when all ranks are on this host
}

// Remote is what members on this host need in order to reach it.
func (r *Region) Remote() transport.Remote { return r.near.Remote() }

// Far is what members on other hosts need; zero when there are none.
func (r *Region) Far() transport.Remote {
	if r.far == nil {
		return transport.Remote{}
	}
	return r.far.Remote()
}

// Close ends it. The memory is given to somebody else only when the members are
// known to have finished.
func (r *Region) Close() error {
	if r.far == nil {
		return r.near.Close()
	}
	return errors.Join(r.far.Close(), r.near.Close())
}

// register makes memory of the arena accessible to peers through the transports. The
// Remotes may have an offset.
func (p *process) register(mem []byte) (*Region, error) {
	at, ok := p.arena.Locate(mem)
	if !ok {
		return nil, fmt.Errorf("rank %d: registering %d bytes: %w", p.rank, len(mem), errNotArena)
	}
	near, err := p.near.Register(at.Key, at.Offset, mem)
	if err != nil || p.far == nil {
		return &Region{near: near}, err
	}
	far, err := p.registerFar(at, mem)
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	return &Region{near: near, far: far}, nil
}

// registerFar makes memory of the arena accessible to ranks of other hosts. Nothing is
// to be done where the arena is registered. Its key outlives the region then: who has
// it is to confirm that it is not used any more, or Forsake.
func (p *process) registerFar(at arena.Extent, mem []byte) (transport.Region, error) {
	if r, ok := p.arena.Remote(mem); ok {
		return registered{r}, nil
	}
	return p.far.Register(at.Key, at.Offset, mem)
}

// registered is a part of the arena, which is registered as long as it is in use.
type registered struct{ remote transport.Remote }

func (r registered) Remote() transport.Remote { return r.remote }
func (r registered) Close() error             { return nil }

// registerFor makes memory accessible to one rank: for a rank on another host, any
// memory that stays where it is.
func (p *process) registerFor(rank int, mem []byte) (transport.Region, error) {
	if !p.local(rank) {
		if r, ok := p.arena.Remote(mem); ok {
			return registered{r}, nil
		}
		return p.far.Register(0, 0, mem)
	}
	at, ok := p.arena.Locate(mem)
	if !ok {
		return nil, fmt.Errorf("rank %d: registering %d bytes: %w", p.rank, len(mem), errNotArena)
	}
	return p.near.Register(at.Key, at.Offset, mem)
}

// mapRemote maps registered memory of a rank of this host. It has published its
// address: its Remote reached us.
func (p *process) mapRemote(rank int, r transport.Remote) ([]byte, error) {
	mapper, ok := p.near.(transport.Mapper)
	if !ok || !p.local(rank) {
		return nil, fmt.Errorf("rank %d: its memory is on host %q and cannot be mapped here", rank, p.hostName(rank))
	}
	address, _, err := p.addressOf(p.ctx, rank)
	if err != nil {
		return nil, err
	}
	if _, err := p.near.Dial(context.Background(), rank, address); err != nil {
		return nil, err
	}
	mem, ok := mapper.Map(rank, r)
	if !ok {
		return nil, fmt.Errorf("rank %d: mapping %d bytes at offset %d of its region %#x failed", rank, r.Len, r.Offset, r.Key)
	}
	return mem, nil
}

// Registrar is what registers memory of this rank: for ranks on other hosts if there
// are any, else for those on this one. Programs that measure registration use it.
func (in *Inside) Registrar() arena.Registrar {
	if far := in.comm.process.far; far != nil {
		return far
	}
	return in.comm.process.near
}
