package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/needs"
)

// A HostRequest asks an agent of its host.
type HostRequest struct {
	// Needs are what programs need that may be run there.
	Needs []Need `json:"needs,omitempty"`
	// Blobs are what its cache may have.
	Blobs []manifest.Blob `json:"blobs,omitempty"`
}

// A Need is what a program needs of a host.
type Need struct {
	Program string      `json:"program"` // its name, for messages
	Needs   needs.Needs `json:"needs"`
}

func (r *HostRequest) check() error { return errors.Join(checkNeeds(r.Needs), checkBlobs(r.Blobs)) }

func checkBlobs(blobs []manifest.Blob) error {
	if len(blobs) > maxBlobs {
		return fmt.Errorf("%d blobs are asked about, and %d can be", len(blobs), maxBlobs)
	}
	for _, b := range blobs {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return nil
}

func checkNeeds(list []Need) error {
	if len(list) > maxNeeds {
		return fmt.Errorf("%d programs are asked about, and %d can be", len(list), maxNeeds)
	}
	for _, n := range list {
		if err := checkText("a program's name", n.Program, needs.MaxInterpreter); err != nil {
			return err
		}
		if err := checkText("an interpreter", n.Needs.Interpreter, needs.MaxInterpreter); err != nil {
			return err
		}
	}
	return nil
}

// A Host is what an agent says of its host.
type Host struct {
	Name    string            `json:"name"`
	Address string            `json:"address"` // of the agent: host:port
	Version string            `json:"version"`
	OS      string            `json:"os"`
	Arch    string            `json:"arch"`
	Slots   int               `json:"slots"`
	Free    int               `json:"free"` // slots that nobody holds
	Cores   int               `json:"cores"`
	Memory  int64             `json:"memory_bytes"`
	Load    float64           `json:"load"` // runnable processes, over a minute
	Devices []string          `json:"devices,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Profile string            `json:"profile"` // of gossip: lan, wan or local
	Started time.Time         `json:"started"`
	Now     time.Time         `json:"now"` // by its clock
	// State is the directory of detached jobs' output, for callers on the host only.
	State string `json:"state,omitempty"`
	// Lacks says what it has not that the Needs asked for, "" if that is nothing.
	Lacks string `json:"lacks,omitempty"`
	// Staged says that it has all the Blobs.
	Staged bool `json:"staged,omitempty"`
	// Jobs is where jobs have their directories.
	Jobs string `json:"jobs,omitempty"`
}

// A NodesRequest asks for the members of the cluster.
type NodesRequest struct{}

func (*NodesRequest) check() error { return nil }

// A NodesAnswer lists them by name.
type NodesAnswer struct {
	Nodes []Node `json:"nodes"`
}

// A Node is a member.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address"` // of its agent
	State   string `json:"state"`   // alive, dead or left
	// Host is what it says of itself; nil: Problem says why that is not known.
	Host    *Host  `json:"host,omitempty"`
	Problem string `json:"problem,omitempty"`
}
