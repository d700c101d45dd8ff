package launcher

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
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

// startSupervisors starts one for each host that this machine plays.
func (f *front) startSupervisors() error {
	children, err := proc.New()
	if err != nil {
		return err
	}
	f.children = children
	f.catchSignals()
	for _, h := range f.hosts {
		if err := f.startSupervisor(h); err != nil {
			f.killAll()
			return err
		}
	}
	return nil
}

// startSupervisor starts this program again as a host's supervisor.
func (f *front) startSupervisor(h *host) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socketpair: %w", err)
	}
	unix.SetNonblock(fds[0], true)
	ours, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "supervisor")
	defer theirs.Close()
	h.ended = make(chan struct{})
	h.pid, err = f.children.Start(proc.Command{
		Path: "/proc/self/exe", Args: []string{SupervisorName}, Env: os.Environ(),
		Files: []*os.File{nil, nil, os.Stderr, theirs},
	}, func(e proc.Exit) { h.exit = e; close(h.ended) })
	if err != nil {
		ours.Close()
		return fmt.Errorf("starting the supervisor: %w", err)
	}
	h.conn = control.NewConn(ours)
	go f.receive(h)
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
