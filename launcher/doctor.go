package launcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/doctor"
	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// DoctorOptions say what golaunch doctor examines: what the agent of this host has, or
// would have, with the same options.
type DoctorOptions struct {
	Access
	Directories
	Bind string // as of AgentOptions
	JSON bool
}

// RunDoctor examines this host and the members of its cluster, prints what it has
// found, and returns golaunch's exit code: 1 if something does not work.
func RunDoctor(o DoctorOptions) int {
	ctx, stop := untilInterrupted()
	defer stop()
	findings, err := o.examine(ctx)
	write := doctor.WriteTable
	if o.JSON {
		write = doctor.WriteJSON
	}
	if err == nil {
		err = write(os.Stdout, findings)
	}
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "golaunch: doctor: %v\n", err)
		return exitCode(err)
	case !doctor.Healthy(findings):
		return 1
	}
	return 0
}

func (o *DoctorOptions) examine(ctx context.Context) ([]doctor.Finding, error) {
	dirs, err := o.Directories.WithDefaults()
	if err != nil {
		return nil, err
	}
	host, gossip, control, err := (&daemon{AgentOptions: AgentOptions{Bind: o.Bind}}).ports()
	if err != nil {
		return nil, usage("%v", err)
	}
	key, err := keyFile(o.KeyFile)
	if err != nil {
		return nil, err
	}
	c := doctor.Config{
		KeyFile: key, State: dirs.State, Runtime: dirs.Runtime, Cache: dirs.Cache,
		Bind: host, GossipPort: gossip, ControlPort: control, Version: boot.Version,
	}
	if o.isThere(dirs.Runtime) {
		cluster := o.cluster(ctx, dirs.Runtime, key, &c)
		defer cluster.close()
		c.Cluster = cluster
	}
	return doctor.Examine(ctx, c), nil
}

// isThere reports whether there is an agent to ask.
func (o *DoctorOptions) isThere(runtime string) bool {
	if o.address() != "" {
		return true
	}
	info, err := os.Lstat(filepath.Join(runtime, api.SocketName))
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// An asked is the cluster as the doctor asks it: members are asked from here, so
// that what is found is found from here.
type asked struct {
	agent *api.Client
	pool  *api.Pool
	self  string // the name of this host
}

// cluster connects to the agent. If it is this host's, its ports are those to examine,
// unless others are named.
func (o *DoctorOptions) cluster(ctx context.Context, runtime, key string, c *doctor.Config) *asked {
	p := &asked{pool: api.NewPool(func(ctx context.Context, to string) (net.Conn, error) {
		if key == "" {
			return nil, errors.New("without a key no other host can be asked")
		}
		ring, err := keys.Read(key)
		if err != nil {
			return nil, err
		}
		return join.Call(ctx, to, ring, acknowledgeWait)
	})}
	if address := o.address(); address != "" {
		p.agent = p.pool.Agent("at "+address, address)
		return p
	}
	p.agent = api.DialUnix(runtime)
	short, cancel := context.WithTimeout(ctx, api.AskWait)
	defer cancel()
	if h, err := p.agent.Host(short, api.HostRequest{}); err == nil {
		p.self = h.Name
		if _, port, err := net.SplitHostPort(h.Address); err == nil && o.Bind == "" {
			c.ControlPort, _ = strconv.Atoi(port)
			c.GossipPort = c.ControlPort - 1
		}
	}
	return p
}

func (p *asked) close() {
	p.agent.Close()
	p.pool.Close()
}

// Nodes are the members as the agent knows them.
func (p *asked) Nodes(ctx context.Context) ([]doctor.Node, error) {
	answer, err := p.agent.Nodes(ctx, api.NodesRequest{})
	if err != nil {
		return nil, explained(err)
	}
	var nodes []doctor.Node
	for _, n := range answer.Nodes {
		node := doctor.Node{Name: n.Name, Address: n.Address, State: n.State, Problem: n.Problem, Self: n.Name == p.self}
		if n.Host != nil {
			node.Version = n.Host.Version
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// Clock asks a member for the time there: this host's agent over its socket.
func (p *asked) Clock(ctx context.Context, n doctor.Node) (time.Time, error) {
	client := p.agent
	if !n.Self {
		client = p.pool.Agent(n.Name, n.Address)
	}
	h, err := client.Host(ctx, api.HostRequest{})
	return h.Now, err
}
