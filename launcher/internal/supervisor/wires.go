package supervisor

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
)

// wires are the pipes and the socket between the supervisor and one rank.
type wires struct {
	stdin, stdout, stderr, socket *os.File // our ends; stdin may be nil
	// theirs are the rank's descriptors 0 to 3; nil is /dev/null.
	theirs [4]*os.File
}

// newWires makes them. After an error the caller closes what there is.
func newWires(withStdin bool) (w *wires, err error) {
	w = &wires{}
	var stdin, stdout, stderr, socket error
	if withStdin {
		w.theirs[0], w.stdin, stdin = pipe(1)
	}
	w.theirs[1], w.stdout, stdout = pipe(0)
	w.theirs[2], w.stderr, stderr = pipe(0)
	w.theirs[3], w.socket, socket = boot.SocketPair()
	return w, errors.Join(stdin, stdout, stderr, socket)
}

// pipe returns a new pipe's two ends; ours is the reading one (0) or the writing
// one (1) and waits in the poller. Theirs blocks, as programs expect, and spares
// the poller.
func pipe(our int) (theirs, ours *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[our], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[1-our]), "pipe"), os.NewFile(uintptr(fds[our]), "pipe"), nil
}

// Closing a file that is nil is an error without consequence.

func (w *wires) closeTheirs() {
	for _, f := range w.theirs {
		f.Close()
	}
}

func (w *wires) closeOurs() {
	for _, f := range [...]*os.File{w.stdin, w.stdout, w.stderr, w.socket} {
		f.Close()
	}
}
