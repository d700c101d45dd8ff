package launcher

import (
	"os"
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

// stdinCredit allows so much more of stdin to be sent. With the first credit the
// reading begins: not earlier, so that input stays for others if nobody wants it.
func (f *front) stdinCredit(bytes int) {
	f.stdin.Add(bytes)
	if !f.reads {
		f.reads = true
		go f.readStdin()
	}
}

// readStdin passes stdin on as long as somebody reads it. A Read that waits is
// given up only by the end of the process.
func (f *front) readStdin() {
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
			f.conn.Send(&control.Stdin{Data: buf[:n]})
		}
		if err != nil {
			f.conn.Send(&control.StdinEnd{})
			return
		}
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
