package supervisor

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/runtime/job"
)

// lostWait is how long after its connection has closed a rank's process may live
// before the rank counts as lost. The connection of a process that ends closes
// first, and how it ends says more.
const lostWait = 100 * time.Millisecond

// A rank is guarded by supervisor.mu.
type rank struct {
	number    int
	pid       int // of the process that was started; 0: none
	inherited *os.File

	joiner    int // the process that has joined; 0: none
	addressed bool
	left      bool
	exited    bool

	pager     *pager       // of its coherent windows; nil: it has none. Guarded by pagers.mu
	pagerCPUs *unix.CPUSet // that one is bound to them; nil: to none. Set before the rank is started
}

// admit decides whether process pid may join as the rank; reason says why not.
func (s *supervisor) admit(r *rank, hello boot.Packet, pid int) (reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case hello.Protocol != boot.Protocol || hello.Text != boot.Version:
		return fmt.Sprintf("rank %d was built with version %s of golaunch (protocol %d) and this golaunch is version %s (protocol %d): build both from the same version",
			r.number, hello.Text, hello.Protocol, boot.Version, boot.Protocol)
	case r.left:
		return fmt.Sprintf("rank %d, which process %d had joined, has left the job, and process %d cannot join again", r.number, r.joiner, pid)
	case r.joiner != 0:
		return fmt.Sprintf("process %d has joined as rank %d already, and process %d cannot too", r.joiner, r.number, pid)
	case r.exited:
		return fmt.Sprintf("the process that was started as rank %d has ended, and process %d came too late", r.number, pid)
	}
	r.joiner = pid
	s.memory.Report(r.number, job.Joined, 0)
	s.front.Send(&control.Joined{Rank: r.number, PID: pid})
	return ""
}

// goodbye notes that the rank leaves.
func (s *supervisor) goodbye(r *rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.left || r.exited {
		return
	}
	r.left = true
	s.memory.Report(r.number, job.Left, 0)
	s.desk.End(r.number, "has left the job", true)
	s.front.Send(&control.Left{Rank: r.number})
}

// hungUp follows the end of a rank's private connection.
func (s *supervisor) hungUp(r *rank) {
	time.AfterFunc(lostWait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.left || r.exited {
			return
		}
		s.memory.Report(r.number, job.Failed, 0)
		s.desk.End(r.number, "has lost its connection", false)
		s.front.Send(&control.Lost{Rank: r.number, PID: r.joiner})
	})
}

// ended follows the end of a rank's process.
func (s *supervisor) ended(r *rank, e proc.Exit) {
	why := ""
	if e.Signal == syscall.SIGKILL || e.Code > 0 { // it may see that the pager is gone first
		why = s.pagers.blame(s, r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.exited = true
	if !r.left {
		state, code := fate(e)
		s.memory.Report(r.number, state, code)
		s.desk.End(r.number, "has ended: "+job.Describe(state, code), false)
	}
	s.input.leave(r.number)
	s.front.Send(&control.Exited{
		Rank: r.number, Code: e.Code, Signal: int(e.Signal), Why: why, CoreDumped: e.CoreDumped,
		Wall: int64(e.Wall), User: int64(e.User), System: int64(e.System), MaxRSS: e.MaxRSS,
	})
}

func fate(e proc.Exit) (job.State, int32) {
	switch {
	case e.Signal != 0:
		return job.Failed, -int32(e.Signal)
	case e.Code != 0:
		return job.Failed, int32(e.Code)
	}
	return job.Exited, 0
}
