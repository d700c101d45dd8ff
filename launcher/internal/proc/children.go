package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrEnding is what Start returns once KillAll was called.
var ErrEnding = errors.New("no process is started any more: everything is being stopped")

// Children are this process's children.
type Children struct {
	// bystanders were this process's children before it became a subreaper: a
	// shell's background jobs, when golaunch was exec'd over the shell. They are
	// never touched. Guarded by mu.
	bystanders map[int]bool
	requests   chan func(allowed *unix.CPUSet)

	mu      sync.Mutex
	changed sync.Cond // any field below has changed
	live    map[int]*child
	starts  int  // processes started so far
	reaped  int  // processes reaped so far
	none    bool // wait(2) says there is no child
	ending  bool
}

type child struct {
	started time.Time
	group   bool
	exited  func(Exit)
}

// Exit tells how a process ended.
type Exit struct {
	Code         int // -1 when Signal is not 0
	Signal       syscall.Signal
	CoreDumped   bool
	Wall         time.Duration
	User, System time.Duration // with its descendants that were waited for
	MaxRSS       int64         // bytes
}

// New makes this process a child subreaper. It can be called once, and lasts until
// the process ends.
func New() (*Children, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("becoming a child subreaper: %w", err)
	}
	c := &Children{
		bystanders: map[int]bool{}, requests: make(chan func(*unix.CPUSet)),
		live: map[int]*child{},
	}
	c.changed.L = &c.mu
	if hasChildren() {
		c.scan(func(int) bool { return false }, func(pid int) { c.bystanders[pid] = true })
	}
	go c.serve()
	go c.reap()
	return c, nil
}

// hasChildren spares New the walk through /proc in the usual case.
func hasChildren() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG|unix.WALL, nil)
	return err != unix.ECHILD
}

// A Command says what to start.
type Command struct {
	Path string // of the binary; it is not searched for
	Args []string
	Env  []string
	Dir  string
	// Files become the descriptors 0, 1, ... of the process. A nil one is /dev/null.
	Files []*os.File
	// DieWithParent has the kernel kill the process when this one dies.
	DieWithParent bool
	// CPUs the process may run on; nil: those this process may.
	CPUs *unix.CPUSet
	// TimerSlack is by how much the kernel may be late when the process's threads want to be woken
	// at a time; 0: what holds for this process.
	TimerSlack time.Duration
}

// Start starts a process in a process group of its own. exited is called once,
// after it has been reaped; with that, its id is free to mean another process.
func (c *Children) Start(cmd Command, exited func(Exit)) (pid int, err error) {
	attr, closeFiles, err := cmd.attr()
	if err != nil {
		return 0, err
	}
	defer closeFiles()
	done := make(chan struct{})
	c.requests <- func(allowed *unix.CPUSet) {
		defer close(done)
		pid, err = c.start(cmd, attr, allowed, exited)
	}
	<-done
	return pid, err
}

// serve is the thread that starts every process.
func (c *Children) serve() {
	runtime.LockOSThread()
	var allowed unix.CPUSet
	known := unix.SchedGetaffinity(0, &allowed) == nil
	for request := range c.requests {
		if known {
			request(&allowed)
		} else {
			request(nil)
		}
	}
}

func (c *Children) start(cmd Command, attr *syscall.ProcAttr, allowed *unix.CPUSet, exited func(Exit)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return 0, ErrEnding
	}
	if cmd.CPUs != nil && allowed != nil {
		if err := unix.SchedSetaffinity(0, cmd.CPUs); err != nil {
			return 0, fmt.Errorf("binding to cores: %w", err)
		}
		defer unix.SchedSetaffinity(0, allowed)
	}
	if cmd.TimerSlack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(cmd.TimerSlack), 0, 0, 0) // all its threads inherit that
		defer unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)                     // as it was
	}
	pid, err := syscall.ForkExec(cmd.Path, cmd.Args, attr)
	if err != nil {
		return 0, err
	}
	c.live[pid] = &child{started: time.Now(), group: attr.Sys.Setpgid, exited: exited}
	c.starts++
	c.none = false
	c.changed.Broadcast()
	return pid, nil
}

// attr returns what syscall.ForkExec takes.
func (cmd Command) attr() (attr *syscall.ProcAttr, closeFiles func(), err error) {
	attr = &syscall.ProcAttr{Dir: cmd.Dir, Env: cmd.Env, Sys: &syscall.SysProcAttr{Setpgid: true}}
	if cmd.DieWithParent {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	var null *os.File
	for _, f := range cmd.Files {
		if f == nil && null == nil {
			if null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
				return nil, nil, err
			}
		}
		if f == nil {
			f = null
		}
		attr.Files = append(attr.Files, f.Fd())
	}
	return attr, func() { null.Close() }, nil
}

// SignalGroup sends a signal to the process group of a process that Start
// started. Once the process is reaped, it does nothing.
func (c *Children) SignalGroup(pid int, sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live[pid] != nil {
		syscall.Kill(-pid, sig)
	}
}
