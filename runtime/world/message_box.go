package world

import (
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/world/messages"
	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/far"
)

// openMessages begins to take messages, before any rank can know this one.
func (p *process) openMessages() {
	p.messages = messages.Open(messages.Config{
		Rank: p.rank, Size: p.size, Router: p.router,
		Until: p.waiter.Until, Spins: p.waiter.Spins(), Wake: p.waiter.Wake, Ring: p.mem.Ring,
		Local: p.local, Failure: p.silent, Died: p.died,
		Memory: messageMemory{p},
	})
}

// died returns a *RankFailedError when a rank ended without having left.
func (p *process) died(rank int) error {
	if state, _ := p.mem.State(rank); state == job.Left {
		return nil
	}
	return p.router.Failure(rank)
}

// worldContext names the world communicator in messages.
const worldContext = 1

// openBox begins to take the messages of the communicator.
func (c *Comm) openBox(context uint64) {
	c.context = context
	c.box = c.process.messages.Box(context, c.name, c.Rank(), c.ranks())
}

// childContext names the communicator of a color that c's members are making. All
// of them count alike, as Split and Dup are collective, so nobody has to be told.
// Names of 64 bits made by mixing do not meet in practice: a million communicators
// of one rank would with a chance of 1 in 30 million.
func (c *Comm) childContext(color int) uint64 {
	return mix(mix(c.context+uint64(c.children)*0x9e37_79b9_7f4a_7c15) + uint64(color+1))
}

// mix is the finalizer of splitmix64: a bijection.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58_476d_1ce4_e5b9
	x = (x ^ x>>27) * 0x94d0_49bb_1331_11eb
	return x ^ x>>31
}

// messageMemory is what package messages needs of arenas.
type messageMemory struct{ *process }

func (m messageMemory) Alloc(bytes int) ([]byte, error) { return arena.Alloc[byte](m.arena, bytes) }

func (m messageMemory) Free(mem []byte) error { return arena.Free(m.arena, mem) }

func (m messageMemory) Locate(mem []byte) (rendezvous.Place, bool) {
	at, ok := m.arena.Locate(mem)
	if !ok {
		return rendezvous.Place{}, false
	}
	return rendezvous.Place{Key: at.Key, Offset: at.Offset, Len: int64(len(mem))}, true
}

func (m messageMemory) At(rank int, p rendezvous.Place) ([]byte, error) {
	if !m.local(rank) {
		return nil, fmt.Errorf("rank %d shares no memory with rank %d", rank, m.rank)
	}
	return m.segments.at(m.ctx, rank, arena.Extent{Key: p.Key, Offset: p.Offset}, p.Len)
}

func (m messageMemory) Bounces(rank int, mem []byte) bool {
	_, registered := m.arena.Remote(mem)
	return !m.local(rank) && !registered && m.farPath(rank) == router.Verbs
}

func (m messageMemory) Register(rank int, mem []byte) (transport.Region, error) {
	return m.registerFor(rank, mem)
}

func (m messageMemory) Land(rank int, mem []byte) (transport.Landing, error) {
	if f := m.far; f != nil && m.farPath(rank) == router.TCP {
		if l, ok := f.End(far.TCP).(transport.Lander); ok {
			return l.Land(rank, mem)
		}
	}
	return nil, fmt.Errorf("rank %d puts nothing on landings", rank)
}
