package boot

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// PagerName is what the pager process of a host is called: as its argument 0, and by ps.
// It is a second instance of a rank's program.
const PagerName = "golaunch-pager"

// EnvPager is "1" in a pager's environment, and nowhere else.
const EnvPager = "GOLAUNCH_PAGER"

// pagerSocket is what a pager inherits its line to the supervisor as.
const pagerSocket = 3

// PagerControl returns this process's line to the supervisor that has started it as a
// pager, over which ranks' sockets come ([AdmitToPager]); nil: it is no pager.
func PagerControl() *os.File {
	if len(os.Args) != 1 || os.Args[0] != PagerName || os.Getenv(EnvPager) != "1" {
		return nil
	}
	return os.NewFile(pagerSocket, "supervisor")
}

// PagerTimerSlack is how late the kernel may wake a pager's threads from timed sleeps
// (prctl(2), PR_SET_TIMERSLACK), which they have from who starts it. The monitor thread of
// its Go runtime sleeps for 20 us at a time, whenever the pager has something to do, on the core
// on which a rank waits for it: half of all misses took twice as long. The pager's own
// deadlines are a timerfd's, or longer.
const PagerTimerSlack = 10 * time.Millisecond

// PagerFiles are what a pager inherits as its descriptors 0, 1, ...
func PagerFiles(stderr, control *os.File) []*os.File { return []*os.File{nil, nil, stderr, control} }

// PagerEnviron is env for a pager.
func PagerEnviron(env []string) []string { return append(env[:len(env):len(env)], EnvPager+"=1") }

// A PagerProcess is a pager that this process has started, or none yet. Its methods may
// be called from any goroutine.
type PagerProcess struct {
	mu      sync.Mutex
	control *os.File
	err     error
	process *os.Process
}

// Admit returns a rank's end of a new line to the pager, which is started if it is not
// there: a second instance of this program.
func (p *PagerProcess) Admit(rank int) (*os.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control == nil && p.err == nil {
		p.err = p.start()
	}
	if p.err != nil {
		return nil, p.err
	}
	return AdmitToPager(p.control, rank)
}

func (p *PagerProcess) start() error {
	mine, theirs, err := SocketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	setTimerSlack(PagerTimerSlack)
	defer setTimerSlack(0) // as it was
	p.process, err = os.StartProcess("/proc/self/exe", []string{PagerName}, &os.ProcAttr{
		Dir: "/", Env: PagerEnviron(os.Environ()), Files: PagerFiles(os.Stderr, theirs),
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return errors.Join(fmt.Errorf("starting the pager of this host: %w", err), mine.Close())
	}
	p.control = mine
	return nil
}

// setTimerSlack is for this thread, and what it starts.
func setTimerSlack(d time.Duration) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, 29, uintptr(d), 0) // PR_SET_TIMERSLACK
}

// Close ends the pager, if there is one, and waits until it has ended.
func (p *PagerProcess) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control == nil {
		return nil
	}
	err := p.control.Close()
	p.control, p.err = nil, os.ErrClosed
	_, waited := p.process.Wait()
	return errors.Join(err, waited)
}

// AdmitToPager makes a pair of connected sockets, sends one to the pager at the other
// end of control, and returns the other, for a rank.
func AdmitToPager(control *os.File, rank int) (*os.File, error) {
	mine, theirs, err := SocketPair()
	if err != nil {
		return nil, err
	}
	err = Send(control, Packet{Kind: Hello, Rank: int32(rank)}, theirs)
	theirs.Close()
	if err != nil {
		mine.Close()
		return nil, fmt.Errorf("the pager of this host cannot be reached: %w", err)
	}
	return mine, nil
}
