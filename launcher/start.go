package launcher

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/supervisor"
)

// SupervisorName is what a supervisor process is called (its argument 0). A
// program that calls Run must call Supervise instead when it finds itself started
// under this name.
const SupervisorName = "golaunch-supervisor"

// frontSocket is the descriptor of a supervisor's stream to its front.
const frontSocket = 3

// Supervise is the whole life of a supervisor process. It returns the exit code.
func Supervise() int {
	if err := unix.SetNonblock(frontSocket, true); err != nil {
		fmt.Fprintf(os.Stderr, "%s: golaunch starts this by itself; it is of no use alone\n", SupervisorName)
		return CodeUsage
	}
	unix.CloseOnExec(frontSocket)
	return supervisor.Run(os.NewFile(frontSocket, "front"))
}

// startSupervisor starts this program again as the supervisor.
func (f *front) startSupervisor() error {
	children, err := proc.New()
	if err != nil {
		return err
	}
	f.children = children
	f.catchSignals()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socketpair: %w", err)
	}
	unix.SetNonblock(fds[0], true)
	theirs := os.NewFile(uintptr(fds[1]), "supervisor")
	defer theirs.Close()
	f.gone = make(chan proc.Exit, 1)
	f.supervisor, err = children.Start(proc.Command{
		Path: "/proc/self/exe", Args: []string{SupervisorName}, Env: os.Environ(),
		Files: []*os.File{nil, nil, os.Stderr, theirs},
	}, func(e proc.Exit) { f.gone <- e })
	if err != nil {
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	f.conn = control.NewConn(os.NewFile(uintptr(fds[0]), "supervisor"))
	go f.receive()
	return nil
}

// catchSignals has the loop told of signals, except of those that whoever started
// golaunch wants ignored (nohup).
func (f *front) catchSignals() {
	f.signals = make(chan os.Signal, 16)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT} {
		if !signal.Ignored(sig) {
			signal.Notify(f.signals, sig)
		}
	}
}

// receive hands the supervisor's messages to the loop. When they end before Done,
// it clears up what the supervisor could not.
func (f *front) receive() {
	for {
		m, err := f.conn.Receive()
		if err == nil {
			err = sound(m, len(f.ranks))
		}
		if err != nil {
			close(f.messages)
			f.lost <- f.clearUp(err)
			return
		}
		f.messages <- m
		if _, ok := m.(*control.Done); ok {
			return
		}
	}
}

// clearUp kills everything that the supervisor has left behind and removes its
// files, and says what became of it.
func (f *front) clearUp(err error) string {
	f.killAll()
	os.RemoveAll(f.scratch)
	select {
	case e := <-f.gone:
		return fmt.Sprintf("the supervisor (process %d) %s", f.supervisor, endingOf(e.Code, int(e.Signal), e.CoreDumped))
	default:
		return fmt.Sprintf("the connection to the supervisor (process %d) broke: %v", f.supervisor, err)
	}
}

// killAll kills every descendant, the supervisor too, and reports whether all are
// dead. A process that is stuck in the kernel dies later.
func (f *front) killAll() bool {
	dead := make(chan struct{})
	go func() { f.children.KillAll(); close(dead) }()
	select {
	case <-dead:
		return true
	case <-time.After(time.Duration(lifecycle.KillWait)):
		return false
	}
}
