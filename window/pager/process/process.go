package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
)

// init catches the process that a supervisor has started as a host's pager, before the
// program's main, which knows nothing of it.
func init() {
	if control := boot.PagerControl(); control != nil {
		os.Exit(run(control))
	}
}

// run is the whole life of a pager. It returns the process's exit code.
func run(control *os.File) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE)
	_ = os.WriteFile("/proc/self/comm", []byte(boot.PagerName), 0)
	g, err := newPager()
	if err == nil {
		go g.listen(control)
		runtime.LockOSThread()
		hurry()
		err = g.loop()
	}
	if errors.Is(err, errOver) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "golaunch: pager:", err)
	return 1
}

// hurry has this thread, the loop's, come before others where that is allowed: many wait for it. The
// runtime's own threads do not: they would take the core from it, once in 20 us while it works.
func hurry() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20) }

var errOver = errors.New("the supervisor has no use for the pager any more")

// listen takes the ranks' sockets, until the supervisor closes its line, or ends.
func (g *pager) listen(control *os.File) {
	for {
		p, socket, err := boot.Receive(control)
		switch {
		case errors.Is(err, io.EOF):
			g.stop(errOver)
			return
		case err != nil:
			g.stop(fmt.Errorf("the line to the supervisor: %w", err))
			return
		case p.Kind != boot.Hello || socket == nil:
			continue
		}
		fd, err := unix.FcntlInt(socket.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		_ = socket.Close()
		if err == nil {
			err = g.admit(fd)
		}
		if err != nil {
			g.stop(fmt.Errorf("taking the socket of rank %d: %w", p.Rank, err))
			return
		}
	}
}

// stop ends the loop.
func (g *pager) stop(err error) {
	g.mu.Lock()
	defer g.unlock()
	g.note(err)
}
