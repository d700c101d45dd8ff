package world

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// Join makes this process a rank and returns the world communicator.
//
// Under golaunch it may be called once a process. So it may under a process manager
// that speaks PMI-1 or PMI-2 (mpiexec.hydra, srun --mpi=pmi2; docs/bootstrap.md). A
// process that neither has started is the only rank of a world of its own. An
// environment that claims otherwise, a golaunch or ranks of another version, and a
// second process that claims the same rank are errors.
//
// Under golaunch Join does not wait for the other ranks; under a process manager it
// waits until every rank has called it. It raises GOMAXPROCS to 2: with one P
// a computing goroutine would keep the others, who serve the peers, away for
// 10 ms at a time.
func Join(ctx context.Context) (*Comm, error) {
	session, err := connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("world: Join: %w", err)
	}
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
	if session == nil {
		comms, err := InProcess(1)
		if err != nil {
			return nil, fmt.Errorf("world: Join: %w", err)
		}
		return comms[0], nil
	}
	comm, err := joinSession(session)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("world: Join as rank %d: %w", session.Rank(), err), session.Close())
	}
	return comm, nil
}

func joinSession(session session) (*Comm, error) {
	mem, err := job.Map(session.JobMemory())
	if err != nil {
		return nil, err
	}
	if mem.Size() != session.Size() || len(mem.Extra()) < group.Size(session.Size()) {
		return nil, errors.Join(fmt.Errorf("job memory for %d ranks with %d bytes more, want %d ranks and %d",
			mem.Size(), len(mem.Extra()), session.Size(), group.Size(session.Size())), mem.Close())
	}
	mem.SetRank(session.Rank())
	mem.SetHostNames(session.HostNames())
	p, err := newProcess(setup{
		rank: session.Rank(), host: session.Host(), hostNames: session.HostNames(),
		job: session.Job(), secret: session.Secret(), Settings: session.Settings(),
	}, session, mem)
	if err != nil {
		return nil, errors.Join(err, mem.Close())
	}
	p.release = mem.Close
	return p.start()
}

// InProcess returns the world communicators of size ranks that are goroutines of
// this process: element i is rank i's. They share nothing but what ranks on one
// host share. Every one of them must Leave.
func InProcess(size int) ([]*Comm, error) { return InProcessHosts(1, size) }

// InProcessHosts is InProcess with several hosts, of as many ranks each, the first
// host's first. Ranks of different hosts share no memory; they talk over TCP on
// the loopback interface.
func InProcessHosts(hosts, ranksPerHost int) ([]*Comm, error) {
	h, err := newHub(hosts, ranksPerHost)
	if err != nil {
		return nil, err
	}
	comms := make([]*Comm, 0, hosts*ranksPerHost)
	for rank := range hosts * ranksPerHost {
		comm, err := h.join(rank)
		if err != nil {
			for _, c := range comms {
				err = errors.Join(err, c.Leave())
			}
			return nil, err
		}
		comms = append(comms, comm)
	}
	return comms, nil
}
