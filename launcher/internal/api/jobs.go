package api

import (
	"fmt"
	"time"
)

// A JobsRequest asks for the jobs that an agent knows: those whose golaunch runs on
// its host, and those that have ranks there.
type JobsRequest struct {
	// All has it ask the other members, too.
	All bool `json:"all,omitempty"`
}

func (*JobsRequest) check() error { return nil }

// A JobsAnswer lists them, the oldest first.
type JobsAnswer struct {
	Jobs []Job `json:"jobs"`
	// Silent are members that did not answer in time, and why.
	Silent []string `json:"silent,omitempty"`
}

// A Job is what agents know of a job.
type Job struct {
	Name string `json:"job"`
	// Front is where its golaunch runs; nil: that is not known.
	Front *Front `json:"front,omitempty"`
	// Places are where its ranks are.
	Places []Place `json:"places,omitempty"`
}

// A Front is the golaunch of a job.
type Front struct {
	Host     string    `json:"host"`  // or the address it calls from
	Agent    string    `json:"agent"` // the host of the agent that knows it
	PID      int       `json:"pid"`
	User     string    `json:"user"`
	Ranks    int       `json:"ranks"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Detached bool      `json:"detached,omitempty"`
}

// A Place is a host of a job.
type Place struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"` // of the process above the supervisor
	Slots   int       `json:"slots"`
	Started time.Time `json:"started"`
}

// A KillRequest asks an agent to signal a job's golaunch, or, where none is known, to
// end what of the job is on its host.
type KillRequest struct {
	Job string `json:"job"`
	All bool   `json:"all,omitempty"`
}

func (r *KillRequest) check() error { return CheckJob(r.Job) }

// A KillAnswer says who was told.
type KillAnswer struct {
	Front  string   `json:"front,omitempty"`  // the host of its golaunch
	Places []string `json:"places,omitempty"` // hosts where its ranks were ended instead
	Silent []string `json:"silent,omitempty"`
}

// An AttachRequest makes a golaunch known to its agent for as long as the answer
// lasts: a stream of Notices.
type AttachRequest struct {
	Job   string `json:"job"`
	Front Front  `json:"front"`
	// Hosts are whose death, and return, it wants to hear of.
	Hosts []string `json:"hosts,omitempty"`
}

func (r *AttachRequest) check() error {
	if err := CheckJob(r.Job); err != nil {
		return err
	}
	if err := checkText("the user", r.Front.User, maxName); err != nil {
		return err
	}
	if len(r.Front.Command) > maxText {
		return fmt.Errorf("the command has %d bytes, and may have %d", len(r.Front.Command), maxText)
	}
	if r.Front.PID < 1 {
		return fmt.Errorf("%d is no process", r.Front.PID)
	}
	if len(r.Hosts) > MaxHosts {
		return errTooMany
	}
	for _, name := range r.Hosts {
		if err := CheckHost(name); err != nil {
			return err
		}
	}
	return checkRanks(r.Front.Ranks)
}

// A Notice tells a golaunch something. An empty one says that the agent is there.
type Notice struct {
	Kill bool `json:"kill,omitempty"` // somebody wants the job's end
	// Dead is a host that gossip has confirmed to be dead, Alive one that is back; "" if
	// this is about none. When a golaunch attaches, every host counts as alive that it is
	// not told of.
	Dead  string `json:"dead,omitempty"`
	Alive string `json:"alive,omitempty"`
}

// A LogsRequest asks for the output of a detached job. The answer is a stream of it.
type LogsRequest struct {
	Job string `json:"job"`
	// Follow goes on until the job ends.
	Follow bool `json:"follow,omitempty"`
	All    bool `json:"all,omitempty"`
}

func (r *LogsRequest) check() error { return CheckJob(r.Job) }
