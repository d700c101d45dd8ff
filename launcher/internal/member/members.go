package member

import (
	"net/netip"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// A State is what is believed of a member.
type State = roster.State

// The states. Members that are dead or have left are shown for some time.
const (
	Alive = roster.Alive
	Dead  = roster.Dead
	Left  = roster.Left
)

// A Member is a host of the cluster.
type Member struct {
	Name  string
	Addr  netip.AddrPort // where it gossips
	State State
	Since time.Time // of the state, or of the process that gossips there
	Meta  Meta
	// Problem, if it is not "", says why Meta is empty: the member cannot be used.
	Problem string
}

// Control is where the member's agent answers; an invalid address: nowhere.
func (m *Member) Control() netip.AddrPort {
	if m.Meta.Control == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(m.Addr.Addr(), m.Meta.Control)
}

// member makes a Member of what the roster knows.
func (c *Cluster) member(e roster.Entry) Member {
	m := Member{Name: e.Name, State: e.State, Since: c.began.Add(time.Duration(e.Since))}
	var err error
	if m.Addr, err = netip.ParseAddrPort(e.Addr); err != nil {
		m.Problem = err.Error()
	}
	if m.Meta, err = decodeMeta([]byte(e.Meta)); err != nil {
		m.Problem = err.Error()
	}
	return m
}

// Members returns what is known of everybody, by name, this host included.
func (c *Cluster) Members() []Member {
	c.mu.Lock()
	entries := c.roster.Entries()
	c.mu.Unlock()
	members := make([]Member, len(entries))
	for i, e := range entries {
		members[i] = c.member(e)
	}
	return members
}

// Self is this host.
func (c *Cluster) Self() Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, _ := c.roster.Entry(c.o.Name)
	return c.member(e)
}
