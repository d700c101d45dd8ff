package netns

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is one that is in a namespace.
type Process struct {
	PID     int
	Command string
}

func (p Process) String() string { return fmt.Sprintf("process %d (%s)", p.PID, p.Command) }

func (n *Network) processes() []Process { return processes(n.spaces...) }

// processes looks at every process of the machine. This one is in none of them,
// although threads of it are.
func processes(spaces ...*space) []Process {
	names, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil { // only for a bad pattern
		return nil
	}
	var found []Process
	for _, name := range names {
		link, err := os.Readlink(name)
		if err != nil || !slices.ContainsFunc(spaces, func(s *space) bool { return link == fmt.Sprintf("net:[%d]", s.inode) }) {
			continue // ended, or elsewhere
		}
		dir := strings.TrimSuffix(name, "ns/net")
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(dir + "cmdline")
		found = append(found, Process{pid, string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))})
	}
	return found
}

// Gone waits until no process is on any host, and returns those that still are
// when wait is over.
func (n *Network) Gone(wait time.Duration) []Process {
	deadline := time.Now().Add(wait)
	for {
		left := n.processes()
		if len(left) == 0 || !time.Now().Before(deadline) {
			return left
		}
		awaitEnd(left[0], time.Until(deadline))
	}
}

// awaitEnd waits for the end of a process. Zombies that nobody reaps have ended.
func awaitEnd(p Process, wait time.Duration) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for deadline := time.Now().Add(wait); ; {
		left := max(0, time.Until(deadline).Milliseconds()+1)
		if _, err := unix.Poll(ended, int(left)); err != unix.EINTR {
			return
		}
	}
}

// killWait is how long killed processes may take to end, and to make new ones.
const killWait = 5 * time.Second

// kill kills every process on the network until there is none, and returns those
// that it found.
func (n *Network) kill() (found []Process, err error) {
	for deadline := time.Now().Add(killWait); ; {
		left := n.processes()
		if len(left) == 0 {
			return found, nil
		}
		if time.Now().After(deadline) {
			return found, fmt.Errorf("still there after %v of killing: %v", killWait, left)
		}
		for _, p := range left {
			if !slices.Contains(found, p) {
				found = append(found, p)
			}
			unix.Kill(p.PID, unix.SIGKILL)
		}
		awaitEnd(left[0], time.Second)
	}
}
