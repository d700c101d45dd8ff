package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// A record says what a job is whose supervisor runs here.
type record struct {
	Job     string    `json:"job"`
	Token   string    `json:"token"` // of the reservation it was
	Slots   int       `json:"slots"`
	PID     int       `json:"pid"`
	Born    string    `json:"born"` // when the kernel says that process began
	Started time.Time `json:"started"`
}

// errHeld: the process whose record it is lives.
var errHeld = syscall.EWOULDBLOCK

// openRecord opens a job's file and locks it. errHeld: somebody has.
func openRecord(dir, job string, flags int) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, job), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// write writes the record over whatever f holds.
func (r *record) write(f *os.File) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	return err
}

func readRecord(dir, job string) (r record, err error) {
	f, err := os.OpenFile(filepath.Join(dir, job), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, 64<<10)).Decode(&r); err != nil {
		return r, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if r.Job != job || r.Slots < 0 || r.PID < 1 || api.CheckJob(r.Job) != nil {
		return r, fmt.Errorf("%s: it is no record of job %s", f.Name(), job)
	}
	return r, nil
}

// recorded returns the records of the jobs that run here, and clears away those of
// jobs that have ended without an agent.
func recorded(dir string) (live []record, errs error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), errSuffix) {
			continue
		}
		switch f, err := openRecord(dir, e.Name(), 0); {
		case errors.Is(err, errHeld):
			r, err := readRecord(dir, e.Name())
			if err == nil {
				live = append(live, r)
			}
			errs = errors.Join(errs, err)
		case err != nil:
			errs = errors.Join(errs, err)
		default:
			forget(dir, e.Name())
			f.Close()
		}
	}
	return live, errs
}

// errSuffix is behind a job's name in the name of the file that has what its
// supervisor says.
const errSuffix = ".err"

// forget removes a job's files.
func forget(dir, job string) {
	os.Remove(filepath.Join(dir, job))
	os.Remove(filepath.Join(dir, job+errSuffix))
}

// born is when a process began, in the kernel's words: with it, a process id means one
// process only. "" if there is none.
func born(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const startTime = 22 - 3 // proc(5) counts from 1, and what follows the name is the third
	if len(fields) <= startTime {
		return ""
	}
	return fields[startTime]
}

// A handle is a process that cannot be taken for another one.
type handle struct{ f *os.File }

// openProcess returns a handle of the process of a record.
func (r *record) openProcess() (*handle, error) {
	fd, err := unix.PidfdOpen(r.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	h := &handle{os.NewFile(uintptr(fd), "process")}
	if born(r.PID) != r.Born {
		h.f.Close()
		return nil, unix.ESRCH
	}
	return h, nil
}

// wait waits for the process's end, or for close.
func (h *handle) wait() error {
	raw, err := h.f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

func (h *handle) signal(sig syscall.Signal) error {
	raw, err := h.f.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
	return errors.Join(err, sent)
}

func (h *handle) close() { h.f.Close() }
