package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// A PlaceRequest asks an agent to place a job's ranks over the cluster and to reserve
// their slots.
type PlaceRequest struct {
	Job           string            `json:"job"`
	Ranks         int               `json:"ranks"`
	Policy        string            `json:"policy"`             // placement.Policy
	PerHost       int               `json:"per_host,omitempty"` // 0: any number
	Hosts         []string          `json:"hosts,omitempty"`    // none: all
	Labels        map[string]string `json:"labels,omitempty"`
	Oversubscribe bool              `json:"oversubscribe,omitempty"`
	Needs         []Need            `json:"needs,omitempty"`
	Blobs         []manifest.Blob   `json:"blobs,omitempty"` // that its hosts are to have
	// DryRun reserves nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Hold is how long the reservations last, from when they were made or renewed until
	// the job starts; 0: the agent's usual time.
	Hold time.Duration `json:"hold,omitempty"`
}

func (r *PlaceRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if err := checkRanks(r.Ranks); err != nil {
		return err
	}
	if len(r.Hosts) > MaxHosts {
		return errTooMany
	}
	for _, name := range r.Hosts {
		if err := CheckHost(name); err != nil {
			return err
		}
	}
	if err := checkLabels(r.Labels); err != nil {
		return err
	}
	if r.Hold != 0 {
		if err := checkHold(r.Hold); err != nil {
			return err
		}
	}
	return errors.Join(checkNeeds(r.Needs), checkBlobs(r.Blobs))
}

// MaxHold is the longest time for which a reservation is made or renewed.
const MaxHold = 24 * time.Hour

func checkHold(d time.Duration) error {
	if d <= 0 || d > MaxHold {
		return fmt.Errorf("a reservation lasts %v at most, and not %v", MaxHold, d)
	}
	return nil
}

// A PlaceAnswer says where the ranks go.
type PlaceAnswer struct {
	Blocks  []Block `json:"blocks"` // in the order of the ranks
	Agent   string  `json:"agent"`  // the host of the agent
	Address string  `json:"address"`
	// Advertise is the address, without a port, at which the agent's host is reached.
	Advertise string `json:"advertise"`
	Profile   string `json:"profile"` // of gossip
	// Hold is how long the reservations last.
	Hold time.Duration `json:"hold"`
	// Silent are members that did not say in time what they have, and why.
	Silent []string `json:"silent,omitempty"`
}

// A Block is neighbouring ranks on a host.
type Block struct {
	Host    string `json:"host"`
	Address string `json:"address"` // of its agent
	Ranks   int    `json:"ranks"`
	Token   string `json:"token,omitempty"` // of its reservation
	// Staged says that the host has all the Blobs.
	Staged bool `json:"staged,omitempty"`
	// Jobs is where jobs have their directories there.
	Jobs string `json:"jobs,omitempty"`
}

// JobDirectory is what the directory of a job's program is called, the first, the
// second and so on.
func JobDirectory(job string, program int) string { return fmt.Sprintf("%s.%d", job, program) }

// A ReserveRequest asks an agent for slots of its host.
type ReserveRequest struct {
	Job           string `json:"job"`
	Token         string `json:"token"`
	Slots         int    `json:"slots"`
	Oversubscribe bool   `json:"oversubscribe,omitempty"`
	// Hold is how long the reservation lasts.
	Hold time.Duration `json:"hold"`
}

func (r *ReserveRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if err := checkToken(r.Token); err != nil {
		return err
	}
	if err := checkHold(r.Hold); err != nil {
		return err
	}
	return checkRanks(r.Slots)
}

// A RenewRequest has reservations last Hold from now on.
type RenewRequest struct {
	Job    string        `json:"job"`
	Blocks []Block       `json:"blocks"` // other hosts' are passed on to their agents
	Hold   time.Duration `json:"hold"`
}

func (r *RenewRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if err := checkHold(r.Hold); err != nil {
		return err
	}
	return checkBlocks(r.Blocks)
}

// A RenewAnswer says which reservations were not renewed.
type RenewAnswer struct {
	// Silent are hosts whose agents have not answered, Failures those that have no such
	// reservation.
	Silent   []Failure `json:"silent,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

// A ReleaseRequest gives back what a job holds: reservations, and, where its
// supervisor was started, the slots of that, once it has ended.
type ReleaseRequest struct {
	Job    string  `json:"job"`
	Blocks []Block `json:"blocks"` // other hosts' are passed on to their agents
	// Ended says that supervisors end by themselves: they are told to only if they do
	// not for a while.
	Ended bool `json:"ended,omitempty"`
}

func (r *ReleaseRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	return checkBlocks(r.Blocks)
}

func checkBlocks(blocks []Block) error {
	if len(blocks) > MaxHosts {
		return errTooMany
	}
	for i := range blocks {
		if err := blocks[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (b *Block) check() error {
	if err := CheckHost(b.Host); err != nil {
		return err
	}
	if err := checkAddress(b.Address); err != nil {
		return err
	}
	if err := checkRanks(b.Ranks); err != nil {
		return err
	}
	return checkToken(b.Token)
}

// Empty is the answer of what needs none.
type Empty struct{}

// A SpawnRequest asks an agent to start supervisors of a job: its own host's, and
// through their agents those of others.
type SpawnRequest struct {
	Job string `json:"job"`
	Key []byte `json:"key"` // that supervisors prove to each other and to the front
	// Join is where they join, best first; the last is the front.
	Join  []string    `json:"join"`
	Nodes []SpawnNode `json:"nodes"`
	// Programs are what the job's programs need, all of it staged.
	Programs []manifest.Manifest `json:"programs,omitempty"`
	// Wait is for how long they try to join, in nanoseconds.
	Wait time.Duration `json:"wait"`
}

// A SpawnNode is a host, and those below it: they join where it serves them.
type SpawnNode struct {
	Host     string      `json:"host"`
	Address  string      `json:"address"` // of its agent
	Token    string      `json:"token"`   // of its reservation
	Children []SpawnNode `json:"children,omitempty"`
}

func (r *SpawnRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if len(r.Key) < 16 || len(r.Key) > 4096 {
		return fmt.Errorf("the job's key has %d bytes", len(r.Key))
	}
	if len(r.Join) == 0 || len(r.Join) > maxDepth {
		return fmt.Errorf("there are %d addresses to join at", len(r.Join))
	}
	for _, a := range r.Join {
		if err := checkAddress(a); err != nil {
			return err
		}
	}
	if len(r.Programs) > maxNeeds {
		return fmt.Errorf("there are %d programs, and can be %d", len(r.Programs), maxNeeds)
	}
	for _, m := range r.Programs {
		if err := m.Check(); err != nil {
			return err
		}
	}
	if r.Wait <= 0 {
		return fmt.Errorf("supervisors may try to join for %v", r.Wait)
	}
	left := MaxHosts
	return checkNodes(r.Nodes, maxDepth, &left)
}

// checkNodes takes what it finds from left.
func checkNodes(nodes []SpawnNode, depth int, left *int) error {
	if depth == 0 {
		return errTooMany
	}
	for i := range nodes {
		n := &nodes[i]
		if *left--; *left < 0 {
			return errTooMany
		}
		if err := CheckHost(n.Host); err != nil {
			return err
		}
		if err := checkAddress(n.Address); err != nil {
			return err
		}
		if err := checkToken(n.Token); err != nil {
			return err
		}
		if err := checkNodes(n.Children, depth-1, left); len(n.Children) > 0 && err != nil {
			return err
		}
	}
	return nil
}

// A SpawnAnswer comes when every supervisor has joined, or says why one will not, as soon
// as that is known.
type SpawnAnswer struct {
	Failures []Failure `json:"failures,omitempty"`
}

// A Failure is what went wrong on a host.
type Failure struct {
	Host string `json:"host"`
	Text string `json:"text"`
	// Silent says that it has not answered.
	Silent bool `json:"silent,omitempty"`
}
