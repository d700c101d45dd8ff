package supervisor

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/proc"
)

// pagers are the processes that serve the coherent windows of this host's ranks: one,
// or one for each rank if each is a host. A pager is started when a rank first asks for it,
// from that rank's program, and ends behind the last rank.
type pagers struct {
	mu    sync.Mutex
	of    map[uint64]*pager // by host
	ended bool              // all are meant to end
}

type pager struct {
	control *os.File
	err     error // why there is none
}

// admit makes a line for a rank.
func (p *pagers) admit(s *supervisor, r *rank, host uint64) (*os.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.of[host]
	if g == nil {
		if len(p.of) > len(s.ranks) {
			return nil, fmt.Errorf("there is no host %d here", host)
		}
		g = &pager{}
		g.control, g.err = p.start(s, r, g)
		if p.of == nil {
			p.of = map[uint64]*pager{}
		}
		p.of[host] = g
	}
	if g.err != nil {
		return nil, g.err
	}
	r.pager = g
	return boot.AdmitToPager(g.control, r.number)
}

// start is called with mu held.
func (p *pagers) start(s *supervisor, r *rank, g *pager) (*os.File, error) {
	mine, theirs, err := boot.SocketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	s.mu.Lock()
	program := fmt.Sprintf("/proc/%d/exe", r.joiner)
	s.mu.Unlock()
	_, err = s.children.Start(proc.Command{
		Path: program, Args: []string{boot.PagerName}, Dir: "/", DieWithParent: true, CPUs: r.pagerCPUs, TimerSlack: boot.PagerTimerSlack,
		Env: boot.PagerEnviron(os.Environ()), Files: boot.PagerFiles(os.Stderr, theirs),
	}, func(e proc.Exit) { p.exited(s, g, e) })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the pager of host %s: %w", s.host, err), mine.Close())
	}
	return mine, nil
}

// besideRanks returns which CPUs the pager of a rank's host is bound to; nil: any. A host that is
// played, beside others on this machine, has its ranks' cores and no more: the kernel puts pagers of
// two hosts that wait for each other on one core, as often as not.
func besideRanks(m *control.Start, bind func(rank int) *unix.CPUSet) func(rank int) *unix.CPUSet {
	var all unix.CPUSet
	ranks := 0
	for _, p := range m.Programs {
		for n := p.First; n < p.First+p.Count; n++ {
			cpus := bind(n)
			if cpus == nil {
				return bind
			}
			for i := range all {
				all[i] |= cpus[i]
			}
		}
		ranks += p.Count
	}
	switch {
	case m.Apart:
		return bind
	case m.Sharers > ranks:
		return func(int) *unix.CPUSet { return &all }
	}
	return func(int) *unix.CPUSet { return nil }
}

// exited notes that a pager has died, unless it was to end. Ranks that used it are being
// killed.
func (p *pagers) exited(s *supervisor, g *pager, e proc.Exit) {
	how := fmt.Sprintf("has ended with code %d", e.Code)
	if e.Signal != 0 {
		how = fmt.Sprintf("was killed (%v)", e.Signal)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost(s, g, how)
}

// lost is called with mu held.
func (p *pagers) lost(s *supervisor, g *pager, how string) {
	if !p.ended && g.err == nil {
		g.err = fmt.Errorf("the pager of host %s, which keeps the pages of its coherent windows, %s", s.host, how)
	}
}

// hangUpWait is for how long a pager that dies may have closed the leashes of its ranks
// and not yet its line to this process, in milliseconds.
const hangUpWait = 20

// blame says why a rank has ended, if that was because its pager has died; "" if not. How
// that died may be known only later.
func (p *pagers) blame(s *supervisor, r *rank) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := r.pager
	if g == nil {
		return ""
	}
	if hungUp(g.control) {
		p.lost(s, g, "has died")
	}
	if g.err != nil {
		return g.err.Error()
	}
	return ""
}

// hungUp reports whether the other end of a socket is closed, or is a moment later.
func hungUp(socket *os.File) (is bool) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return true
	}
	_ = raw.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd)}}
		n, _ := unix.Poll(look, hangUpWait)
		is = n == 1 && look[0].Revents&unix.POLLHUP != 0
	})
	return is
}

// end follows the end of the last rank.
func (p *pagers) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, g := range p.of {
		if g.control != nil {
			g.control.Close()
		}
	}
}
