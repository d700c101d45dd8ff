package api

import (
	"fmt"
	"time"
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
	// DryRun reserves nothing.
	DryRun bool `json:"dry_run,omitempty"`
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
	return checkNeeds(r.Needs)
}

// A PlaceAnswer says where the ranks go.
type PlaceAnswer struct {
	Blocks []Block `json:"blocks"` // in the order of the ranks
	// Advertise is the address, without a port, at which the agent's host is reached.
	Advertise string `json:"advertise"`
	Profile   string `json:"profile"` // of gossip
	// Silent are members that did not say in time what they have, and why.
	Silent []string `json:"silent,omitempty"`
}

// A Block is neighbouring ranks on a host.
type Block struct {
	Host    string `json:"host"`
	Address string `json:"address"` // of its agent
	Ranks   int    `json:"ranks"`
	Token   string `json:"token,omitempty"` // of its reservation
}

// A ReserveRequest asks an agent for slots of its host.
type ReserveRequest struct {
	Job           string `json:"job"`
	Token         string `json:"token"`
	Slots         int    `json:"slots"`
	Oversubscribe bool   `json:"oversubscribe,omitempty"`
}

func (r *ReserveRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if err := checkToken(r.Token); err != nil {
		return err
	}
	return checkRanks(r.Slots)
}

// ReservationTime is how long a reservation lasts, from when it was made or repeated
// until its job starts.
const ReservationTime = 30 * time.Second

// A ReleaseRequest gives a reservation back.
type ReleaseRequest struct {
	Token string `json:"token"`
}

func (r *ReleaseRequest) check() error { return checkToken(r.Token) }

// Empty is the answer of what needs none.
type Empty struct{}

// A SpawnRequest asks an agent to start its host's supervisor of a job, and to pass the
// request on to the hosts below it.
type SpawnRequest struct {
	Job string `json:"job"`
	Key []byte `json:"key"` // that supervisors prove to each other and to the front
	// Join is where the supervisor joins, best first: its parent's address, and last
	// the front's.
	Join []string  `json:"join"`
	Node SpawnNode `json:"node"`
}

// A SpawnNode is a host, and those below it.
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
	left := MaxHosts
	return r.Node.check(maxDepth, &left)
}

// check takes what it finds from left.
func (n *SpawnNode) check(depth int, left *int) error {
	if *left--; *left < 0 || depth == 0 {
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
	for i := range n.Children {
		if err := n.Children[i].check(depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// A SpawnAnswer says where no supervisor was started.
type SpawnAnswer struct {
	Failures []Failure `json:"failures,omitempty"`
}

// A Failure is what went wrong on a host.
type Failure struct {
	Host string `json:"host"`
	Text string `json:"text"`
}
