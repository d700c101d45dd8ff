package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/desk"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/runtime/job"
)

type supervisor struct {
	front    *control.Conn
	children *proc.Children
	host     string
	joined   *joined // nil: the front started this process

	desk   *desk.Desk
	pagers pagers

	mu      sync.Mutex
	memory  *job.Memory
	size    int
	details boot.Details
	ranks   map[int]*rank
	// While ranks are being started, the signals for them that come gather in early.
	starting bool
	early    []control.Signal
	input    *input
	scratch  string // directory to remove at the end
	cleared  bool   // it has been removed, and must not be made any more

	outputs  map[outputID]*output
	carrying sync.WaitGroup // the outputs that have not ended

	builds   int            // started so far; this one and the next are used by obey only
	hosts    []control.Host // of the job, before Start
	leaving  atomic.Bool    // Done is being said: the front closes the stream as soon as it has it
	finished chan struct{}  // closed when Done has been said
}

// Run is the whole life of a supervisor process that the front has started and is
// at the other end of stream. It returns the process's exit code.
func Run(stream io.ReadWriteCloser) int {
	standApart(true)
	children, err := proc.New()
	if err != nil {
		fmt.Fprintln(os.Stderr, "golaunch: supervisor:", err)
		return 1
	}
	return newSupervisor(control.NewConn(stream), children, hostname(), nil).serve()
}

func hostname() string {
	host, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return host
}

func newSupervisor(front *control.Conn, children *proc.Children, host string, j *joined) *supervisor {
	s := &supervisor{
		front: front, children: children, host: host, joined: j, ranks: map[int]*rank{},
		input: newInput(front), outputs: map[outputID]*output{}, finished: make(chan struct{}),
	}
	s.desk = desk.New(s.has)
	return s
}

// standApart keeps signals away that are meant for the front, which forwards them:
// a terminal's hang-up, and whoever signals everything named golaunch. Handlers,
// unlike ignored signals, are not inherited by the ranks. ours: the front has started
// this process, so what whoever started the front wants ignored (nohup), the ranks
// ignore, too. What a host that joins was started to ignore is nothing to them.
func standApart(ours bool) {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGTSTP,
		syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !ours || !signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	os.WriteFile("/proc/self/comm", []byte("golaunch-superv"), 0)
}

// serve does what the front says until it says Finish or is gone.
func (s *supervisor) serve() int {
	s.front.Send(&control.Hello{Protocol: control.Protocol, Version: boot.Version, Host: s.host, PID: os.Getpid()})
	if s.joined != nil {
		s.front.Send(&control.Offer{Slots: s.joined.Slots})
	}
	gone := make(chan error, 1)
	go func() { gone <- s.obey() }()
	select {
	case err := <-gone:
		switch {
		case s.leaving.Load():
			<-s.finished
			s.joined.leave()
			return 0
		case s.joined != nil:
			return s.cutOff(err)
		}
		return s.abandoned(err)
	case <-s.joined.dismissed():
		s.front.Close() // the host is lost: how its ranks end says nothing
		return s.abandoned(io.EOF)
	case <-s.finished:
		s.joined.leave()
		return 0
	}
}

// obey does what the front's messages ask for, until they end.
func (s *supervisor) obey() error {
	for {
		m, err := s.front.Receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *control.Hello: // the front compares, and closes
		case *control.Keep, *control.Refused:
			if err := s.joined.answered(m); err != nil {
				return err
			}
		case *control.Build:
			go s.build(m, s.builds)
			s.builds++
		case *control.Hosts:
			s.hosts = m.Hosts
		case *control.Start:
			go s.start(m, s.prepare(m))
		case *control.Signal:
			s.signal(m)
		case *control.Kill:
			go s.children.KillAll()
		case *control.Finish:
			go s.finish(time.Duration(m.Linger))
		case *control.Stdin:
			s.input.write(m.Data)
		case *control.StdinEnd:
			s.input.end()
		case *control.Credit:
			s.credit(m)
		case *control.Address, *control.Fate:
			if err := s.elsewhere(m); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the front sent a %T", m)
		}
	}
}

// abandoned clears up after the front's death. Nobody is left to hear about it,
// except when it is the protocol that was broken.
func (s *supervisor) abandoned(err error) int {
	s.children.KillAll()
	s.removeScratch()
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		fmt.Fprintln(os.Stderr, "golaunch: supervisor: the connection to golaunch is lost:", err)
	}
	return 1
}

// finish follows the end of the last rank.
func (s *supervisor) finish(linger time.Duration) {
	killed := 0
	s.pagers.end()
	if !s.children.Wait(linger) {
		killed = s.children.KillAll()
	}
	s.drain()
	s.removeScratch()
	s.leaving.Store(true)
	s.front.Send(&control.Done{Killed: killed})
	s.front.Flush()
	close(s.finished)
}

func (s *supervisor) removeScratch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleared = true
	if s.scratch != "" {
		os.RemoveAll(s.scratch)
	}
}

// signal sends a signal to the ranks, once all are started.
func (s *supervisor) signal(m *control.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting {
		s.early = append(s.early, *m)
		return
	}
	s.deliver(m)
}

// started delivers the signals that came too early.
func (s *supervisor) started() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starting = false
	for i := range s.early {
		s.deliver(&s.early[i])
	}
	s.early = nil
}

// deliver is signal, with mu held.
func (s *supervisor) deliver(m *control.Signal) {
	sig := syscall.Signal(m.Sig)
	switch sig {
	case syscall.SIGTSTP: // the front stops, too
		s.joined.mind(false)
	case syscall.SIGCONT:
		s.joined.mind(true)
	}
	for _, r := range s.ranks {
		if r.pid != 0 && !(m.SpareLeft && r.left) {
			s.children.SignalGroup(r.pid, sig)
		}
	}
}
