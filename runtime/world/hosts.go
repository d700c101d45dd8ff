package world

import (
	"time"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/transport"
)

// Hosts is on which host each member is. The numbers mean the same at every rank.
func (in *Inside) Hosts() []int { return in.comm.process.hostsOf(in.comm.ranks()) }

func (p *process) hostsOf(ranks []int) []int {
	hosts := make([]int, len(ranks))
	for i, rank := range ranks {
		hosts[i] = p.mem.HostOf(rank)
	}
	return hosts
}

// ranks are the members, as ranks of the job.
func (c *Comm) ranks() []int {
	ranks := make([]int, c.Size())
	for m := range ranks {
		ranks[m] = c.group.Rank(m)
	}
	return ranks
}

// RegisterFor makes memory accessible to members that are as far as the given one:
// for those on other hosts any memory that is not a goroutine's stack, for those on
// this one memory of the arena.
func (in *Inside) RegisterFor(member int, mem []byte) (transport.Region, error) {
	return in.comm.process.registerFor(in.comm.group.Rank(member), mem)
}

// Over returns a *RankFailedError when nothing more will come from a member: it has
// failed, or it has left and what it had sent was delivered or is overdue.
func (in *Inside) Over(member int) error {
	return in.comm.process.silent(in.comm.group.Rank(member))
}

// lateTime is how long a rank of another host that has left is given to be heard
// of: what it sent last may still be under way, and where hundreds of hosts connect
// at once also the connection.
const lateTime = 5 * time.Second

// silent returns a *RankFailedError when nothing more will come from a rank. Then
// nothing that it has put arrives any more either.
func (p *process) silent(rank int) error {
	err := p.overdue(rank)
	if err != nil && !p.local(rank) {
		p.far.Sever(rank)
	}
	return err
}

// overdue returns a *RankFailedError when nothing more is waited for from a rank.
func (p *process) overdue(rank int) error {
	err := p.router.Failure(rank)
	if err == nil || p.local(rank) || p.router.Gone(rank) != nil {
		return err
	}
	if state, _ := p.mem.State(rank); state != job.Left {
		return err
	}
	now := time.Now().UnixNano()
	if p.departed[rank].CompareAndSwap(0, now) {
		time.AfterFunc(lateTime, func() {
			if !p.left.Load() {
				p.waiter.Wake()
			}
		})
	}
	if now-p.departed[rank].Load() < int64(lateTime) {
		return nil
	}
	return err
}
