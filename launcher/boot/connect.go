package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"
)

// answerWait bounds how long Connect waits for a supervisor that does not answer.
const answerWait = 30 * time.Second

// Connect joins the job that started this process.
//
// It returns (nil, nil) when the environment claims nothing: the process was not
// started by golaunch. An environment that claims to be a rank without being one,
// a supervisor of another version, and a rank that another process (or this one,
// earlier) has joined already are errors.
//
// The inherited socket is closed on exec from the first call on, and stays open
// as long as the process lives, so that its number cannot come to mean another
// file.
func Connect(ctx context.Context) (*Session, error) {
	inherited, err := inheritedSocket()
	if err != nil || inherited < 0 {
		return nil, err
	}
	socket, theirs, err := SocketPair()
	if err != nil {
		return nil, err
	}
	err = sayHello(inherited, theirs)
	if err = errors.Join(err, theirs.Close()); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return begin(ctx, socket)
}

// begin takes socket over, on which hello was said.
func begin(ctx context.Context, socket *os.File) (*Session, error) {
	s, err := welcomed(ctx, socket)
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	go s.read()
	return s, nil
}

// ConnectOver joins as a rank over a socket that is connected to who plays the
// supervisor (launcher/boot/helper), and takes socket over. The rank and the proof,
// that this process may be it, stand in the hello, which has neither under golaunch.
func ConnectOver(ctx context.Context, socket *os.File, rank int, proof uint64) (*Session, error) {
	if err := Send(socket, Packet{Kind: Hello, Text: Version, Rank: int32(rank), Key: proof}, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("rank %d: saying hello: %w", rank, err), socket.Close())
	}
	return begin(ctx, socket)
}

// inheritedSocket returns the descriptor that golaunch left to this process, -1
// if the environment does not speak of one.
func inheritedSocket() (int, error) {
	value := os.Getenv(EnvSocket)
	if value == "" {
		if rank := os.Getenv(EnvRank); rank != "" {
			return -1, notStarted("%s=%s is set and %s is not", EnvRank, rank, EnvSocket)
		}
		return -1, nil
	}
	fd, err := strconv.Atoi(value)
	if err != nil || fd < 0 {
		return -1, notStarted("%s=%q is no descriptor", EnvSocket, value)
	}
	kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE)
	switch {
	case err == syscall.EBADF:
		return -1, notStarted("%s=%d, and that descriptor is not open", EnvSocket, fd)
	case err != nil || kind != syscall.SOCK_SEQPACKET:
		return -1, notStarted("%s=%d, and that descriptor is not golaunch's socket", EnvSocket, fd)
	}
	syscall.CloseOnExec(fd)
	return fd, nil
}

func notStarted(format string, args ...any) error {
	return fmt.Errorf("the environment claims to be a rank, but golaunch did not start this process: %s "+
		"(start it with golaunch, or unset the GOLAUNCH_ variables)", fmt.Sprintf(format, args...))
}

func sayHello(inherited int, private *os.File) error {
	raw, err := private.SyscallConn()
	if err != nil {
		return err
	}
	hello := Packet{Kind: Hello, Text: Version}.Append(nil)
	var sent error
	err = raw.Control(func(fd uintptr) { sent = sendOnce(inherited, hello, syscall.UnixRights(int(fd))) })
	if sent != nil {
		return fmt.Errorf("saying hello to the supervisor on descriptor %d: %w", inherited, sent)
	}
	return err
}

// welcomed waits for the supervisor's answer to hello.
func welcomed(ctx context.Context, socket *os.File) (*Session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWait, fmt.Errorf("no answer for %v", answerWait))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { socket.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	p, memory, err := Receive(socket)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, fmt.Errorf("waiting for the supervisor's welcome: %w", context.Cause(ctx))
	case err == io.EOF:
		return nil, errors.New("the supervisor closed the connection before it answered: is it still alive?")
	case err != nil:
		return nil, fmt.Errorf("waiting for the supervisor's welcome: %w", err)
	}
	if err := checkWelcome(p, memory); err != nil {
		if memory != nil {
			memory.Close()
		}
		return nil, err
	}
	details, err := receiveDetails(socket, p.Bytes)
	if err != nil {
		memory.Close()
		return nil, fmt.Errorf("waiting for the supervisor's welcome: %w", err)
	}
	return newSession(socket, p, details, memory), nil
}

func checkWelcome(p Packet, memory *os.File) error {
	switch {
	case p.Kind == Refused:
		return errors.New(p.Text)
	case p.Kind != Welcome || memory == nil:
		return fmt.Errorf("the supervisor answered hello with a packet of kind %d", p.Kind)
	case p.Rank < 0 || p.Rank >= p.Size:
		return fmt.Errorf("the supervisor speaks of rank %d of %d", p.Rank, p.Size)
	}
	return nil
}
