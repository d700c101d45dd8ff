package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/cores"
	"github.com/golaunch/golaunch/launcher/internal/slots"
	"github.com/golaunch/golaunch/launcher/internal/stage"
	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/jobdir"
	"github.com/golaunch/golaunch/launcher/internal/stage/needs"
)

// Members are the hosts of the cluster, as gossip knows them.
type Members interface {
	// Members lists them, this host's agent included. It does not wait.
	Members() []Member
}

// A Member is a host of the cluster.
type Member struct {
	Name    string
	Address string // of its agent: host:port
	State   string // alive, dead or left
	// Problem, if it is not "", says why it cannot be asked.
	Problem string
}

// unable says why a member cannot be asked, "" if it can.
func (m *Member) unable() string {
	if m.State != "alive" {
		return m.State
	}
	return m.Problem
}

// Config says what an agent is.
type Config struct {
	Directories
	Name    string // of the host
	Version string
	Slots   int
	Labels  map[string]string
	Devices bool // tell of accelerators
	Profile string
	// Hold is how long a reservation lasts that nobody renews, unless a launch says
	// something else.
	Hold time.Duration
	// Program is what starts a supervisor: a path, and arguments in front of those of
	// golaunch supervise.
	Program []string
	// Call connects to another agent.
	Call api.Dialer
	Log  *slog.Logger
}

// An Agent is a host's.
type Agent struct {
	Config
	started   time.Time
	lock      *os.File
	pool      *api.Pool
	server    *api.Server
	cache     *cache.Cache
	node      *stage.Node // fills the cache
	dirs      *jobdir.Jobs
	address   string // of this agent: host:port
	ip        string // the host in it
	members   Members
	listeners []net.Listener

	mu       sync.Mutex
	closed   bool // nothing is started any more
	slots    *slots.Table
	jobs     map[string]*job   // that run here
	unwanted map[string]string // tokens, by job, of what was released while it was being started
	fronts   map[string]*front // that are attached here

	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup
}

// New returns an agent that has found the jobs that run on its host. It must be
// closed.
func New(c Config) (*Agent, error) {
	if err := c.Directories.make(); err != nil {
		return nil, err
	}
	lock, err := takeLock(c.Runtime)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		Config: c, started: time.Now(), lock: lock, pool: api.NewPool(c.Call),
		slots: slots.New(c.Slots), jobs: map[string]*job{}, unwanted: map[string]string{}, fronts: map[string]*front{},
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	a.server = api.NewServer(a, c.Log)
	if err := a.openCache(); err != nil {
		lock.Close()
		return nil, err
	}
	if err := a.adopt(); err != nil {
		a.Log.Warn("some jobs were not found again", "error", err)
	}
	return a, nil
}

// adopt finds the jobs that run here.
func (a *Agent) adopt() error {
	records, err := recorded(a.Directories.running())
	for _, r := range records {
		h, openErr := r.openProcess()
		if openErr != nil {
			err = errors.Join(err, fmt.Errorf("job %s: process %d: %w", r.Job, r.PID, openErr))
			continue
		}
		a.Log.Info("job found again", "job", r.Job, "process", r.PID, "slots", r.Slots)
		a.mu.Lock()
		a.slots.Adopt(r.Job, r.Slots)
		a.enter(&job{record: r, process: h, ended: make(chan struct{})})
		a.mu.Unlock()
	}
	return err
}

// Listen opens the Unix socket. From here on callers find the agent, and are served
// once Serve is called. network, if it is not nil, is where other hosts find it, at
// address; the agent closes it.
func (a *Agent) Listen(network net.Listener, address string, members Members) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	a.address, a.ip, a.members = address, host, members
	local, err := api.ListenUnix(a.Runtime)
	if err != nil {
		return err
	}
	local.Refused = func(why error) { a.Log.Warn("caller refused", "error", why) }
	a.listeners = append(a.listeners, local)
	if network != nil {
		a.listeners = append(a.listeners, network)
	}
	return nil
}

// Serve serves callers, who find the agent since Listen. It returns at Close.
func (a *Agent) Serve() (err error) {
	ended := make(chan error, len(a.listeners))
	for _, l := range a.listeners {
		go func() { ended <- a.server.Serve(l) }()
	}
	for range a.listeners {
		if serveErr := <-ended; serveErr != nil {
			err = errors.Join(err, serveErr)
			a.server.Close()
		}
	}
	return err
}

// Close ends the agent. What runs on its host goes on.
func (a *Agent) Close() error {
	a.stop()
	err := a.server.Close()
	for _, l := range a.listeners {
		l.Close() // it may not have been served yet
	}
	a.mu.Lock()
	a.closed = true
	for _, j := range a.jobs {
		j.process.close()
	}
	a.mu.Unlock()
	a.node.Close()
	a.running.Wait()
	a.pool.Close()
	return errors.Join(err, a.dirs.Close(), a.cache.Close(), a.lock.Close())
}

func (a *Agent) now() slots.Instant { return slots.Instant(time.Since(a.started)) }

// Host is what this agent says of its host.
func (a *Agent) Host(_ context.Context, who api.Caller, q api.HostRequest) (api.Host, error) {
	h := a.host(q)
	if who.Local {
		h.State = a.State
	}
	return h, nil
}

func (a *Agent) host(q api.HostRequest) api.Host {
	a.mu.Lock()
	free := a.slots.Free(a.now())
	a.mu.Unlock()
	h := api.Host{
		Name: a.Name, Address: a.address, Version: a.Version, OS: runtime.GOOS, Arch: runtime.GOARCH,
		Slots: a.Slots, Free: free, Cores: cores.Usable(), Memory: memory(), Load: load(), Labels: a.Labels,
		Profile: a.Profile, Started: a.started, Now: time.Now(), Lacks: lacks(q.Needs), Staged: a.hasAll(q.Blobs), Jobs: filepath.Join(a.Directories.Cache, "jobs"),
	}
	if a.Devices {
		h.Devices = devices()
	}
	return h
}

// lacks says what this host has not that programs need.
func lacks(list []api.Need) string {
	for _, n := range list {
		var unmet *needs.Unmet
		switch err := n.Needs.CheckHere("", n.Program); {
		case errors.As(err, &unmet):
			return fmt.Sprintf("%s needs %s, and it has %s", n.Program, unmet.Needs, unmet.Has)
		case err != nil:
			return err.Error()
		}
	}
	return ""
}

// peer is the client of a member's agent.
func (a *Agent) peer(m Member) *api.Client {
	return a.pool.Agent("of "+m.Name+" ("+m.Address+")", m.Address)
}

// others are the members that may answer, without this one.
func (a *Agent) others() (list []Member) {
	for _, m := range a.members.Members() {
		if m.Name != a.Name && m.unable() == "" {
			list = append(list, m)
		}
	}
	return list
}

// each asks many agents at once, and waits for all of them.
func each[M any](members []M, ask func(M)) {
	var asking sync.WaitGroup
	for _, m := range members {
		asking.Go(func() { ask(m) })
	}
	asking.Wait()
}
