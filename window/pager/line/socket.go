package line

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// maxFiles is how many descriptors a packet has at most.
const maxFiles = 2

// SendFD sends a frame, with descriptors, and does not wait. The caller keeps owning them.
// unix.EAGAIN: there is no room at the moment.
func SendFD(socket int, f *Frame, fds ...int) error { return send(socket, f, unix.MSG_DONTWAIT, fds) }

func send(socket int, f *Frame, how int, fds []int) error {
	var few [256]byte
	packet := f.Append(few[:0])
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(socket, packet, rights, nil, how|unix.MSG_NOSIGNAL)
		if err != unix.EINTR {
			return err
		}
	}
}

// A Buffer is room for one packet at a time.
type Buffer struct {
	data    [headSize + MaxBody]byte
	control [64]byte
}

// ReceiveFD takes a packet that is there. The caller owns the descriptors; the Body is valid
// until b is used again. unix.EAGAIN: there is none. io.EOF: the other end is closed.
func (b *Buffer) ReceiveFD(socket int) (f Frame, fds []int, err error) {
	return b.take(socket, unix.MSG_DONTWAIT)
}

func (b *Buffer) take(socket, how int) (f Frame, fds []int, err error) {
	n, nc, flags, err := b.receive(socket, how)
	if err != nil {
		return Frame{}, nil, err
	}
	if nc > 0 {
		fds = rights(b.control[:nc])
	}
	if n == 0 {
		CloseAll(fds)
		return Frame{}, nil, io.EOF
	}
	f, err = Parse(b.data[:n])
	switch {
	case err != nil:
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("a packet that was cut")
	case len(fds) > maxFiles:
		err = fmt.Errorf("a packet with %d descriptors", len(fds))
	}
	if err != nil {
		CloseAll(fds)
		return Frame{}, nil, err
	}
	return f, fds, nil
}

func (b *Buffer) receive(socket, how int) (n, nc, flags int, err error) {
	for {
		n, nc, flags, _, err = unix.Recvmsg(socket, b.data[:], b.control[:], how|unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			return n, nc, flags, err
		}
	}
}

func rights(control []byte) (fds []int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for i := range messages {
		if got, err := unix.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

// CloseAll closes descriptors that came with a packet.
func CloseAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// Send and Receive are SendFD and ReceiveFD that wait, for room and for a packet, at a socket that
// blocks: in the kernel, with their thread but without a P. The Go scheduler must not know the socket:
// its poller would have a thread woken for each packet that comes, and for each that has been
// taken.

// Send sends a frame, with descriptors. The caller keeps owning them.
func Send(socket int, f *Frame, fds ...int) error { return send(socket, f, 0, fds) }

// Receive takes the next packet.
func (b *Buffer) Receive(socket int) (Frame, []int, error) { return b.take(socket, 0) }
