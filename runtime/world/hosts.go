package world

import (
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/transport"
)

// Hosts is on which host each member is. The numbers mean the same at every rank.
func (in *Inside) Hosts() []int {
	hosts := make([]int, in.comm.Size())
	for m := range hosts {
		hosts[m] = in.comm.process.mem.HostOf(in.comm.group.Rank(m))
	}
	return hosts
}

// RegisterFor makes memory accessible to members that are as far as the given one:
// for those on other hosts any memory that is not a goroutine's stack, for those on
// this one memory of the arena.
func (in *Inside) RegisterFor(member int, mem []byte) (transport.Region, error) {
	return in.comm.process.registerFor(in.comm.group.Rank(member), mem)
}

// Over returns a *RankFailedError when nothing more will come from a member of
// another host: it has failed, or it has left and all it had sent was delivered.
func (in *Inside) Over(member int) error {
	p, rank := in.comm.process, in.comm.group.Rank(member)
	if state, _ := p.mem.State(rank); state == job.Left && p.router.Gone(rank) == nil {
		return nil
	}
	return p.router.Failure(rank)
}
