package world

import (
	"context"
	"io"
	"os"

	"github.com/golaunch/golaunch/launcher/boot"
)

// A PagerJob is what the pager of a host must know of the job.
type PagerJob struct {
	Rank, Host, Hosts int
	Job               string
	Secret            []byte
	boot.Settings
}

// Unique is a number that no call returns again, at any rank of the job.
func (in *Inside) Unique() uint64 {
	p := in.comm.process
	return uint64(p.rank)<<32 | uint64(uint32(p.unique.Add(1)))
}

// Pager returns this rank's connection to the pager of its host, which package window
// makes of a socket when the first coherent window is allocated, and which is closed when
// the rank leaves.
func (in *Inside) Pager(ctx context.Context, connect func(socket *os.File, job PagerJob) (io.Closer, error)) (io.Closer, error) {
	return in.comm.process.pagerOf(ctx, connect)
}

func (p *process) pagerOf(ctx context.Context, connect func(*os.File, PagerJob) (io.Closer, error)) (io.Closer, error) {
	p.pagerMu.Lock()
	defer p.pagerMu.Unlock()
	if p.pager != nil {
		return p.pager, nil
	}
	socket, err := p.supervisor.Pager(ctx, p.mem.HostOf(p.rank))
	if err != nil {
		return nil, err
	}
	c, err := connect(socket, PagerJob{
		Rank: p.rank, Host: p.mem.HostOf(p.rank), Hosts: p.mem.Hosts(),
		Job: p.setup.job, Secret: p.setup.secret, Settings: p.setup.Settings,
	})
	if err == nil {
		p.pager = c
	}
	return c, err
}

// closePager says goodbye to the pager, if there was one.
func (p *process) closePager() error {
	p.pagerMu.Lock()
	defer p.pagerMu.Unlock()
	if p.pager == nil {
		return nil
	}
	return p.pager.Close()
}
