package launcher

import (
	"syscall"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/runtime/job"
)

// rankMessage takes news of one rank of a host.
func (f *front) rankMessage(h *host, m control.Message) {
	f.passOn(h, m)
	switch m := m.(type) {
	case *control.Started:
		f.ranks[m.Rank].pid = m.PID
		f.verbose("rank %d is process %d", m.Rank, m.PID)
	case *control.NotStarted:
		usage := m.Errno == int(syscall.ENOENT) || m.Errno == int(syscall.EACCES) || m.Errno == int(syscall.ENOEXEC) || m.Errno == int(syscall.ENOTDIR)
		f.handle(lifecycle.NotStarted{Rank: m.Rank, Usage: usage, Text: m.Text})
	case *control.Joined:
		f.ranks[m.Rank].joiner = m.PID
		f.verbose("rank %d has joined", m.Rank)
		f.handle(lifecycle.Joined{Rank: m.Rank})
	case *control.Left:
		f.verbose("rank %d has left", m.Rank)
		f.handle(lifecycle.Left{Rank: m.Rank})
	case *control.Lost:
		f.verbose("rank %d has lost its connection", m.Rank)
		f.handle(lifecycle.Lost{Rank: m.Rank})
	case *control.Aborted:
		f.verbose("rank %d aborts the job", m.Rank)
		f.handle(lifecycle.Aborted{Rank: m.Rank, Code: m.Code, Text: m.Text})
	case *control.Exited:
		f.ranks[m.Rank].exit = m
		f.verbose("rank %d %s after %.3f s (%.3f s user, %.3f s system, %.1f MB)", m.Rank, ending(m),
			seconds(m.Wall), seconds(m.User), seconds(m.System), float64(m.MaxRSS)/1e6)
		f.handle(lifecycle.Exited{Rank: m.Rank, Code: m.Code, Signal: m.Signal})
	case *control.Report:
		f.ranks[m.Rank].figures = m.Figures
	case *control.Output:
		f.printed(m)
	case *control.Closed:
		f.cannotWrite(f.output.end(streamOf(m.Rank, m.Stream), f.now()))
	}
}

// passOn tells the other hosts what their ranks need to know of a rank. It is
// called before the job hears of it: HasLeft is what the others know.
func (f *front) passOn(h *host, m control.Message) {
	var news control.Message
	switch m := m.(type) {
	case *control.Address:
		news = m
	case *control.NotStarted:
		news = fate(m.Rank, job.Failed, job.CodeNotStarted)
	case *control.Joined:
		news = fate(m.Rank, job.Joined, 0)
	case *control.Left:
		news = fate(m.Rank, job.Left, 0)
	case *control.Lost:
		news = fate(m.Rank, job.Failed, 0)
	case *control.Exited:
		if !f.job.Ranks()[m.Rank].HasLeft {
			news = fateOf(m)
		}
	}
	if news != nil {
		f.tellOthers(h, news)
	}
}

func fate(rank int, state job.State, code int32) *control.Fate {
	return &control.Fate{Rank: rank, State: int(state), Code: int(code)}
}

// fateOf is what the end of a rank's process means to others.
func fateOf(m *control.Exited) *control.Fate {
	switch {
	case m.Signal != 0:
		return fate(m.Rank, job.Failed, -int32(m.Signal))
	case m.Code != 0:
		return fate(m.Rank, job.Failed, int32(m.Code))
	}
	return fate(m.Rank, job.Exited, 0)
}
