package launcher

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// stdinReader is who reads stdin: nobody when there is nothing to be read.
func (f *front) stdinReader() int {
	if f.Stdin != StdinNone && isNull(os.Stdin) {
		return StdinNone
	}
	return f.Stdin
}

// stdinCredit notes that a host can take so much more of stdin. With the first
// credit of all hosts the reading begins: not earlier, so that input stays for
// others if nobody wants it.
func (f *front) stdinCredit(h *host, bytes int) {
	h.granted += bytes
	f.allowStdin()
}

// stdinClosed notes that no rank of a host reads stdin (any more).
func (f *front) stdinClosed(h *host) {
	h.unread = true
	f.allowStdin()
}

// allowStdin lets as much be read as every host that reads can take.
func (f *front) allowStdin() {
	least := -1
	for _, h := range f.hosts {
		if !h.unread && (least < 0 || h.granted < least) {
			least = h.granted
		}
	}
	switch {
	case least < 0:
		f.stdin.Close()
	case least > f.stdinAllowed:
		f.stdin.Add(least - f.stdinAllowed)
		f.stdinAllowed = least
		if !f.reads {
			f.reads = true
			go f.readStdin(slices.Clone(f.hosts))
		}
	}
}

// readStdin passes stdin on to hosts as long as somebody reads it; those that do
// not read it throw it away. A Read that waits is given up only by the end of the
// process.
func (f *front) readStdin(hosts []*host) {
	buf := make([]byte, control.Window)
	terminal := isTerminal(os.Stdin)
	for {
		allowed := f.stdin.Wait()
		if allowed == 0 {
			return
		}
		if terminal {
			waitForTurn(os.Stdin)
		}
		n, err := os.Stdin.Read(buf[:min(allowed, len(buf))])
		if n > 0 {
			f.stdin.Add(-n)
			sendEach(hosts, &control.Stdin{Data: buf[:n]})
		}
		if err != nil {
			sendEach(hosts, &control.StdinEnd{})
			return
		}
	}
}

func sendEach(hosts []*host, m control.Message) {
	for _, h := range hosts {
		h.conn.Send(m)
	}
}

// backgroundPoll is how often a job in the background looks whether it has come to
// the foreground. Shells do not always tell.
const backgroundPoll = 250 * time.Millisecond

// waitForTurn waits until there is input and golaunch is in the terminal's
// foreground: reading in the background would stop it, and the job with it.
func waitForTurn(terminal *os.File) {
	fds := []unix.PollFd{{Fd: int32(terminal.Fd()), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
		if inForeground(terminal) {
			return
		}
		time.Sleep(backgroundPoll)
	}
}
