package member

import (
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// A Profile is how patient members are with each other. All of a cluster should have
// the same.
type Profile string

// The profiles.
const (
	LAN   Profile = "lan"   // one site: who is gone is dead after about 5 to 10 s
	WAN   Profile = "wan"   // several sites: after half a minute or more
	Local Profile = "local" // one machine or rack: after 2 to 4 s
)

// settings are memberlist's for a profile.
func (p Profile) settings() (*memberlist.Config, error) {
	var c *memberlist.Config
	switch p {
	case LAN:
		c = memberlist.DefaultLANConfig()
	case WAN:
		c = memberlist.DefaultWANConfig()
	case Local:
		c = memberlist.DefaultLocalConfig()
		c.ProbeInterval = 500 * time.Millisecond
	default:
		return nil, fmt.Errorf("gossip profile %q: it is one of lan, wan, local", p)
	}
	// Each member sends on what it hears RetransmitMult*ceil(log10(n+1)) times, k, and one
	// in e^k of (news, member) is missed until the next exchange. With memberlist's 4
	// that is one or two when 50 members meet.
	c.RetransmitMult = 6
	c.EnableCompression = false // it costs more time than it saves bytes: most packets are pings
	c.HandoffQueueDepth = 4096
	c.DeadNodeReclaimTime = 1 // ns, at once: a host that is back may have another address
	return c, nil
}

// calls is how often the roster calls with a profile.
func (p Profile) calls() roster.Config {
	c := roster.Config{First: roster.Second, Last: 30 * roster.Second, Heal: 30 * roster.Second}
	switch p {
	case WAN:
		c.Heal = 60 * roster.Second
	case Local:
		c.First, c.Last, c.Heal = roster.Second/4, 2*roster.Second, 5*roster.Second
	}
	return c
}
