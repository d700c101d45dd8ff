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

// joins is the argument of a supervisor process that is to join a job over a
// network.
const joins = "join"

// Supervise is the whole life of a supervisor process. It returns the exit code.
func Supervise() int {
	if err := unix.SetNonblock(frontSocket, true); err != nil {
		fmt.Fprintf(os.Stderr, "%s: golaunch starts this by itself; it is of no use alone\n", SupervisorName)
		return CodeUsage
	}
	unix.CloseOnExec(frontSocket)
	stream := os.NewFile(frontSocket, "front")
	if len(os.Args) > 1 && os.Args[1] == joins {
		return supervisor.RunJoined(stream)
	}
	return supervisor.Run(stream)
}

// startSupervisors starts one for each host that this machine plays.
func (f *front) startSupervisors() error {
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
	if err := f.spawnFor(h); err != nil {
		return err
	}
	go f.receive(h)
	return nil
}

// spawnFor starts a host's supervisor, whose messages are to be received.
func (f *front) spawnFor(h *host) error {
	h.ended = make(chan struct{})
	pid, stream, err := spawnSupervisor(f.children, func(e proc.Exit) { h.exit = e; close(h.ended) })
	if err != nil {
		return err
	}
	h.pid, h.conn = pid, control.NewConn(stream)
	return nil
}

// spawnSupervisor starts this program again as a supervisor, with a socket to it.
func spawnSupervisor(children *proc.Children, exited func(proc.Exit), args ...string) (pid int, stream *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("socketpair: %w", err)
	}
	unix.SetNonblock(fds[0], true)
	ours, theirs := os.NewFile(uintptr(fds[0]), "supervisor"), os.NewFile(uintptr(fds[1]), "supervisor")
	defer theirs.Close()
	pid, err = children.Start(proc.Command{
		Path: "/proc/self/exe", Args: append([]string{SupervisorName}, args...), Env: os.Environ(),
		Files: []*os.File{nil, nil, os.Stderr, theirs},
	}, exited)
	if err != nil {
		ours.Close()
		return 0, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	return pid, ours, nil
}

// catchSignals has the loop told of signals, except of those that whoever started
// golaunch wants ignored (nohup).
func (f *front) catchSignals() {
	f.signals = make(chan os.Signal, 16)
	catch(f.signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCONT)
}

func catch(to chan os.Signal, signals ...os.Signal) {
	for _, sig := range signals {
		if !signal.Ignored(sig) {
			signal.Notify(to, sig)
		}
	}
}
