package launcher

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/agent"
	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/cores"
	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/keys"
	"github.com/golaunch/golaunch/launcher/internal/member"
)

// Ports at which an agent listens if nothing else is said: gossip, TCP and UDP, and
// behind it control, TCP.
const (
	GossipPort  = member.DefaultPort
	ControlPort = GossipPort + 1
)

// AgentOptions say what an agent is.
type AgentOptions struct {
	Name string // of the host; "": its host name
	// Join are agents of the cluster, each a host with or without its gossip port.
	Join []string
	// Bind is the address at which it listens, with or without the gossip port; control
	// is one port further. "": every interface, or loopback without a key. Port 0: any
	// two.
	Bind      string
	Advertise string // the IP address at which others reach it; "": that is found out
	KeyFile   string // "": the usual one, if it is there
	Profile   string // of gossip: lan, wan or local
	Slots     int    // 0: one for each core
	Labels    map[string]string
	Devices   bool // tell of accelerators and adapters
	Directories
	JSON bool // logs are JSON
}

// Directories are where agents and those who ask them find things. Empty ones are the
// environment's, or the usual.
type Directories = agent.Directories

// acknowledgeWait is how long what was sent to or by an agent may stay unacknowledged.
const acknowledgeWait = 10 * time.Second

// leaveWait is how long an agent that ends takes to tell the others.
const leaveWait = 2 * time.Second

// A daemon is an agent, its gossip and its listener.
type daemon struct {
	AgentOptions
	log     *slog.Logger
	ring    atomic.Pointer[keys.Ring]
	agent   *agent.Agent
	gossip  *member.Cluster
	control *join.Listener // nil: without a key nobody is heard but this host
	address string         // of its control, for others
}

// RunAgent is the whole life of an agent. It returns its exit code: 2 for options that
// make no sense, before anything was made.
func RunAgent(o AgentOptions) int {
	d := &daemon{AgentOptions: o, log: newLog(o.JSON)}
	defer d.close()
	if err := d.prepare(); err != nil {
		return failed(2, err)
	}
	if err := d.start(); err != nil {
		return failed(1, err)
	}
	return d.run()
}

func failed(code int, err error) int {
	fmt.Fprintf(os.Stderr, "golaunch: agent: %v\n", err)
	return code
}

func newLog(asJSON bool) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, nil))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// prepare completes the options, and checks them.
func (d *daemon) prepare() (err error) {
	if d.Name == "" {
		if d.Name, err = os.Hostname(); err != nil {
			return err
		}
	}
	if d.Slots == 0 {
		d.Slots = cores.Usable()
	}
	if d.Directories, err = d.Directories.WithDefaults(); err != nil {
		return err
	}
	if err := d.readKeys(); err != nil {
		return err
	}
	host, port, _, err := d.ports()
	if err != nil {
		return err
	}
	options := d.gossips(host, port)
	return options.Check()
}

// gossips are the options of its gossip.
func (d *daemon) gossips(host string, port int) member.Options {
	return member.Options{
		Name: d.Name, Bind: host, Advertise: d.Advertise, Port: port, Keys: *d.ring.Load(), Profile: member.Profile(d.Profile),
		Join: d.Join, Snapshot: filepath.Join(d.State, "members"), Log: d.log, Meta: member.Meta{
			Slots: uint32(d.Slots), Cores: uint32(cores.Usable()), Platform: runtime.GOOS + "/" + runtime.GOARCH, Version: boot.Version,
		},
	}
}

func (d *daemon) start() (err error) {
	d.agent, err = agent.New(agent.Config{
		Directories: d.Directories, Name: d.Name, Version: boot.Version, Slots: d.Slots, Labels: d.Labels, Devices: d.Devices,
		Profile: d.Profile, Hold: usualTimeout(d.Profile), Program: []string{"/proc/self/exe"}, Log: d.log, Call: d.call,
	})
	if err != nil {
		return err
	}
	return d.listen()
}

// readKeys reads the key file, if there is one.
func (d *daemon) readKeys() error {
	path, err := keyFile(d.KeyFile)
	if err != nil {
		return err
	}
	ring := keys.Ring{}
	if path != "" {
		if ring, err = keys.Read(path); err != nil {
			return fmt.Errorf("--key-file: %w", err)
		}
	}
	d.ring.Store(&ring)
	return nil
}

// call connects to another agent.
func (d *daemon) call(ctx context.Context, address string) (net.Conn, error) {
	return join.Call(ctx, address, *d.ring.Load(), acknowledgeWait)
}

// listen opens the two ports and the socket, and begins to gossip.
func (d *daemon) listen() error {
	host, gossipPort, controlPort, err := d.ports()
	if err != nil {
		return err
	}
	options := d.gossips(host, gossipPort)
	if ring := *d.ring.Load(); len(ring) > 0 {
		if d.control, err = join.ListenAgent(net.JoinHostPort(host, strconv.Itoa(controlPort)), ring, acknowledgeWait); err != nil {
			return err
		}
		d.control.Refused = func(from net.Addr, why error) { d.log.Warn("caller refused", "from", from.String(), "error", why) }
		controlPort = d.control.Addr().(*net.TCPAddr).Port
		options.Meta.Control = uint16(controlPort)
	}
	if d.gossip, err = member.Start(options); err != nil {
		return err
	}
	d.address = net.JoinHostPort(d.gossip.Self().Addr.Addr().String(), strconv.Itoa(int(cmp.Or(options.Meta.Control, ControlPort))))
	if d.control == nil {
		return d.agent.Listen(nil, d.address, d)
	}
	return d.agent.Listen(d.control, d.address, d)
}

// ports says where to listen: control is at port 0 if any will do.
func (d *daemon) ports() (host string, gossip, control int, err error) {
	host, port := d.Bind, strconv.Itoa(GossipPort)
	if h, p, splitErr := net.SplitHostPort(d.Bind); splitErr == nil {
		host, port = h, p
	}
	gossip, err = strconv.Atoi(port)
	if err != nil || gossip < 0 || gossip > 65534 {
		return "", 0, 0, fmt.Errorf("--bind %s: the port is 0 to 65534", d.Bind)
	}
	if gossip == 0 {
		return host, 0, 0, nil
	}
	return host, gossip, gossip + 1, nil
}

// run serves until a signal ends it.
func (d *daemon) run() int {
	self := d.gossip.Self()
	control := d.address
	if d.control == nil {
		control = "none" // but the socket
	}
	d.log.Info("agent started", "host", d.Name, "gossip", self.Addr.String(), "control", control, "slots", d.Slots,
		"socket", filepath.Join(d.Runtime, api.SocketName), "keys", d.ring.Load().Names())
	if d.control == nil {
		d.log.Warn("no key: this host is a cluster by itself; golaunch keygen makes one")
	}
	signals := make(chan os.Signal, 16)
	catch(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	served := make(chan error, 1)
	go func() { served <- d.agent.Serve() }()
	events, cancel := d.gossip.Watch()
	defer cancel()
	for {
		select {
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			d.news(e)
		case err := <-served:
			d.log.Error("agent ends", "error", err)
			return 1
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				d.rekey()
				continue
			}
			signal.Reset() // a second one ends it at once
			d.log.Info("agent leaves", "signal", sig.String())
			if err := d.gossip.Leave(leaveWait); err != nil {
				d.log.Warn("nobody was told", "error", err)
			}
			return 0
		}
	}
}

// news follows what gossip says.
func (d *daemon) news(e member.Event) {
	switch e.Change {
	case member.Died:
		d.agent.Dead(e.Member.Name)
	case member.Joined, member.Restarted:
		d.agent.Alive(e.Member.Name)
	}
}

// rekey reads the key file again.
func (d *daemon) rekey() {
	before := d.ring.Load()
	err := d.readKeys()
	if err == nil && d.control != nil {
		err = d.control.SetKeys(*d.ring.Load())
	}
	if err == nil {
		err = d.gossip.Rekey(*d.ring.Load())
	}
	if err != nil {
		d.ring.Store(before)
		d.log.Error("the keys stay as they are", "error", err)
		return
	}
	d.log.Info("key file read again", "keys", d.ring.Load().Names())
}

// Members are those that gossip knows.
func (d *daemon) Members() []agent.Member {
	var list []agent.Member
	for _, m := range d.gossip.Members() {
		known := agent.Member{Name: m.Name, State: m.State.String(), Problem: m.Problem}
		if at := m.Control(); at.IsValid() {
			known.Address = at.String()
		} else if known.Problem == "" && m.Name != d.Name {
			known.Problem = "its agent has no key and answers nobody"
		}
		list = append(list, known)
	}
	return list
}

// close ends what was started. What runs on the host goes on.
func (d *daemon) close() {
	if d.gossip != nil {
		d.gossip.Close()
	}
	if d.agent != nil {
		d.agent.Close()
	}
	if d.control != nil {
		d.control.Close()
	}
}
