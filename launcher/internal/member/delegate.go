package member

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// A delegate is what memberlist calls. Most calls come with memberlist's locks held.
type delegate struct{ *Cluster }

// addressOf is where a node gossips.
func addressOf(n *memberlist.Node) netip.AddrPort {
	a, _ := netip.AddrFromSlice(n.Addr)
	return netip.AddrPortFrom(a.Unmap(), n.Port)
}

// NodeMeta is what this member says of itself. memberlist panics if it is too long:
// it never is.
func (d delegate) NodeMeta(int) []byte { return *d.meta.Load() }

// NotifyMsg: a goodbye. Others may send anything.
func (d delegate) NotifyMsg(b []byte) {
	if g, err := decodeGoodbye(b); err == nil {
		d.push(g)
	}
}

// GetBroadcasts are goodbyes to be passed on.
func (d delegate) GetBroadcasts(overhead, limit int) [][]byte {
	return d.notes.GetBroadcasts(overhead, limit)
}

// LocalState: nothing more is exchanged.
func (d delegate) LocalState(bool) []byte { return nil }

// MergeRemoteState ignores what others exchange more.
func (d delegate) MergeRemoteState([]byte, bool) {}

// NotifyJoin: a member lives.
func (d delegate) NotifyJoin(n *memberlist.Node) { d.up(n) }

// NotifyUpdate: a member says something new of itself.
func (d delegate) NotifyUpdate(n *memberlist.Node) { d.up(n) }

func (d delegate) up(n *memberlist.Node) {
	m, _ := decodeMeta(n.Meta) // what is wrong with it is shown with the member
	d.push(roster.Up{Name: n.Name, Addr: addressOf(n).String(), Life: m.life, Meta: string(n.Meta)})
}

// NotifyLeave: a member does not live, for whatever reason.
func (d delegate) NotifyLeave(n *memberlist.Node) {
	if n.Name != d.o.Name {
		d.push(roster.Down{Name: n.Name})
	}
}

// NotifyConflict: somebody comes with the name of a member that lives.
func (d delegate) NotifyConflict(_, other *memberlist.Node) {
	d.push(roster.Clash{Name: other.Name, Other: addressOf(other).String()})
}

// NotifyAlive decides whether to believe what is told of a member at all.
func (d delegate) NotifyAlive(n *memberlist.Node) error {
	if a := addressOf(n); !a.IsValid() || a.Port() == 0 || a.Addr().IsUnspecified() {
		return errors.New("it is at no address")
	}
	return checkName(n.Name)
}

// NotifyMerge refuses to join a cluster in which another host has this one's name:
// nobody there would believe that this one exists.
func (d delegate) NotifyMerge(peers []*memberlist.Node) error {
	for _, p := range peers {
		alive := p.State == memberlist.StateAlive || p.State == memberlist.StateSuspect
		if a := addressOf(p); p.Name == d.o.Name && alive && a != d.wire.addr {
			d.push(roster.Clash{Name: p.Name, Other: a.String()})
			return fmt.Errorf("the name %s is taken there, by a host at %s: give one of them another, or wait until the cluster has seen its death", p.Name, a)
		}
	}
	return nil
}
