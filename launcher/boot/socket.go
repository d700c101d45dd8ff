package boot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrPacket is what Receive returns, wrapped, for a packet that makes no sense.
// The socket can still be used.
var ErrPacket = errors.New("not a packet of golaunch's")

// SocketPair returns the two ends of a new SOCK_SEQPACKET pair, which can be used
// with Send and Receive. Both are closed on exec and do not block, whoever holds
// them.
func SocketPair() (a, b *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "golaunch socket"), os.NewFile(uintptr(fds[1]), "golaunch socket"), nil
}

// Send sends p over socket, and pass with it unless it is nil. The caller keeps
// owning pass.
func Send(socket *os.File, p Packet, pass *os.File) error {
	if pass == nil {
		return send(socket, p, nil)
	}
	raw, err := pass.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = send(socket, p, syscall.UnixRights(int(fd))) })
	return errors.Join(err, sent)
}

func send(socket *os.File, p Packet, rights []byte) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	packet := p.Append(make([]byte, 0, headerSize+len(p.Text)))
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = sendOnce(int(fd), packet, rights)
		return sent != syscall.EAGAIN
	})
	return errors.Join(err, sent)
}

// sendOnce sends one packet without waiting and without SIGPIPE.
func sendOnce(fd int, packet, rights []byte) error {
	for {
		err := syscall.Sendmsg(fd, packet, rights, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
		if err != syscall.EINTR {
			return err
		}
	}
}

// Receive waits for a packet. file is the descriptor that came with it, or nil;
// the caller closes it. io.EOF: the other end is closed.
func Receive(socket *os.File) (p Packet, file *os.File, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return Packet{}, nil, err
	}
	m := message{data: make([]byte, packetSize), control: make([]byte, syscall.CmsgSpace(4*4))}
	waited := raw.Read(func(fd uintptr) bool {
		m.receive(int(fd))
		return m.err != syscall.EAGAIN
	})
	if waited != nil {
		return Packet{}, nil, waited
	}
	return m.parse()
}

// A message is what recvmsg gave.
type message struct {
	data, control []byte
	flags         int
	err           error
}

func (m *message) receive(fd int) {
	for {
		n, nc, flags, _, err := syscall.Recvmsg(fd, m.data[:packetSize], m.control[:cap(m.control)], syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		m.err = err
		if err == nil {
			m.data, m.control, m.flags = m.data[:n], m.control[:nc], flags
		}
		return
	}
}

// parse never leaves a received descriptor open unless it returns it.
func (m *message) parse() (Packet, *os.File, error) {
	if m.err != nil {
		return Packet{}, nil, os.NewSyscallError("recvmsg", m.err)
	}
	fds := rights(m.control)
	if len(m.data) == 0 {
		closeAll(fds)
		return Packet{}, nil, io.EOF
	}
	p, err := ParsePacket(m.data)
	switch {
	case err != nil:
	case m.flags&(syscall.MSG_TRUNC|syscall.MSG_CTRUNC) != 0:
		err = errors.New("packet was cut")
	case len(fds) > 1:
		err = fmt.Errorf("packet with %d descriptors", len(fds))
	}
	if err != nil {
		closeAll(fds)
		return Packet{}, nil, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	if len(fds) == 0 {
		return p, nil, nil
	}
	return p, os.NewFile(uintptr(fds[0]), "passed descriptor"), nil
}

// rights lists the descriptors in control data that the kernel wrote.
func rights(control []byte) []int {
	var fds []int
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	for i := range messages {
		if got, err := syscall.ParseUnixRights(&messages[i]); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		syscall.Close(fd)
	}
}
