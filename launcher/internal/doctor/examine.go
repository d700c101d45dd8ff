package doctor

import (
	"context"
	"time"
)

// Config says what to examine.
type Config struct {
	// KeyFile is the cluster's key; it need not be there.
	KeyFile string
	// State, Runtime and Cache are the agent's directories.
	State, Runtime, Cache string
	// Bind is the IP address that the agent binds; "": every interface.
	Bind string
	// GossipPort (TCP and UDP) and ControlPort (TCP) are the agent's.
	GossipPort, ControlPort int
	// Ranks is how many ranks the host is to run; 0: one for each core.
	Ranks int
	// Version is that of this golaunch.
	Version string
	// Cluster answers for the agent; nil: there is none to ask.
	Cluster Cluster
	// Wait is how long each member may take to answer.
	Wait time.Duration

	// Root is where /proc and /sys are found, for tests; "": at /.
	Root string
	// Now is the time; nil: the system's.
	Now func() time.Time
}

// A Cluster is what the host's agent, and the agents of members, would answer.
type Cluster interface {
	// Nodes are the members as this host's agent knows them. An error says that the
	// agent does not answer.
	Nodes(ctx context.Context) ([]Node, error)
	// Clock asks the agent of a member, from this host and by its address, for the time
	// there. It proves that the member is reached.
	Clock(ctx context.Context, n Node) (time.Time, error)
}

// A Node is a member.
type Node struct {
	Name    string
	Address string // of its agent, host:port
	State   string // alive, dead or left
	Version string // "": not known
	Problem string // why it cannot be used; "": it can
	Self    bool   // it is this host
}

// Examine looks at everything and returns what it has found, in a fixed order.
func Examine(ctx context.Context, c Config) []Finding {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Root == "" {
		c.Root = "/"
	}
	if c.Wait == 0 {
		c.Wait = 5 * time.Second
	}
	nodes, agent := c.agent(ctx)
	running := agent.Status == OK
	var all []Finding
	all = append(all, c.key()...)
	all = append(all, c.directories()...)
	all = append(all, agent)
	all = append(all, c.ports(running)...)
	all = append(all, c.limits()...)
	all = append(all, c.clock()...)
	return append(all, c.members(ctx, nodes)...)
}

// agent asks the host's agent.
func (c *Config) agent(ctx context.Context) ([]Node, Finding) {
	if c.Cluster == nil {
		return nil, warn("agent", "golaunch agent starts one", "none runs on this host")
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	nodes, err := c.Cluster.Nodes(ctx)
	if err != nil {
		return nil, fail("agent", "is it running? golaunch agent starts one; its log says why it has ended", "it does not answer: %v", err)
	}
	return nodes, ok("agent", "it answers, and knows %s", count(len(nodes), "member"))
}
