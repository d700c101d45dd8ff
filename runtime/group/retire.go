package group

import (
	"context"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/runtime/job"
)

// retireTime is how long the owner of an area waits for the others' last access.
// They are all inside Retire, a few instructions away, unless one of them died.
const retireTime = 10 * time.Second

// Retire ends this member's use of the group. Every member calls it, after its
// last round; owner is a member of the same host. For the member that owns the area's memory it returns when no other
// member will touch it any more; until then the memory must not be used for
// anything else. An error means that it never may be.
func (g *Group) Retire(ctx context.Context, owner int) error {
	wordAt(g.area, retiredAt).Add(1)
	if g.me != owner {
		g.Ring(owner)
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, retireTime, fmt.Errorf("%s: not every member has let go of it after %v", g.what, retireTime))
	defer cancel()
	return g.waiter.Until(ctx, retirement{g})
}

// sharesArea reports whether a member is on this host.
func (g *Group) sharesArea(member int) bool {
	return g.far == nil || g.far.hosts[member] == g.far.hosts[g.me]
}

// retirement is the condition that every member has retired.
type retirement struct{ *Group }

func (r retirement) Ready() bool {
	return wordAt(r.area, retiredAt).Load() >= r.quorum
}

// Err does not mind a rank that has left: it may well have retired before.
func (r retirement) Err() error {
	for member, rank := range r.ranks {
		if s, _ := r.mem.State(rank); s > job.Left && r.sharesArea(member) {
			return r.mem.Failure(rank)
		}
	}
	return r.Broken()
}
