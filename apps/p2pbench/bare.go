package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/runtime/world"
)

// bare measures the same ping-pong with nothing but send and receive calls on a
// non-blocking socket, on which both ranks poll.
func (s *suite) bare() error {
	var fd int
	if s.comm.Rank() < 2 {
		f, err := s.connect()
		if err != nil {
			return err
		}
		defer f.Close()
		fd = int(f.Fd())
		if err := unix.SetNonblock(fd, true); err != nil { // Fd made it blocking
			return err
		}
	}
	for _, size := range s.opt.Sizes {
		buf := make([]int64, size/word)
		trips := func(n int) error { return s.bareTrips(fd, bytesOf(buf), n) }
		if err := s.measure("pingpong_bare", "tcp", bench.Heap, buf, s.iterations(size), trips); err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
	}
	return nil
}

func (s *suite) bareTrips(fd int, buf []byte, n int) error {
	steps := [2]func(int, []byte) error{sendAll, receiveAll}
	if s.comm.Rank() > 0 {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for range n {
		if err := steps[0](fd, buf); err != nil {
			return err
		}
		if err := steps[1](fd, buf); err != nil {
			return err
		}
	}
	return nil
}

func sendAll(fd int, buf []byte) error {
	for len(buf) > 0 {
		n, errno := send(fd, buf)
		if errno != 0 && errno != unix.EAGAIN {
			return fmt.Errorf("send: %w", errno)
		}
		buf = buf[n:]
	}
	return nil
}

func receiveAll(fd int, buf []byte) error {
	for len(buf) > 0 {
		n, errno := receive(fd, buf)
		switch {
		case errno != 0 && errno != unix.EAGAIN:
			return fmt.Errorf("receive: %w", errno)
		case errno == 0 && n == 0:
			return errors.New("receive: the connection was closed")
		}
		buf = buf[n:]
	}
	return nil
}

// connect returns this rank's end of a loopback connection between ranks 0 and 1.
func (s *suite) connect() (*os.File, error) {
	var c net.Conn
	var err error
	if s.comm.Rank() == 0 {
		c, err = s.listen()
	} else {
		c, err = s.dial()
	}
	if err != nil {
		return nil, err
	}
	f, err := c.(*net.TCPConn).File() // without delay, as Go's are
	return f, errors.Join(err, c.Close())
}

const bareTag = 8

func (s *suite) listen() (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := world.Send(s.ctx, s.comm, 1, bareTag, []byte(l.Addr().String())); err != nil {
		return nil, err
	}
	defer context.AfterFunc(s.ctx, func() { l.Close() })()
	return l.Accept()
}

func (s *suite) dial() (net.Conn, error) {
	var address [64]byte
	status, err := world.Recv(s.ctx, s.comm, 0, bareTag, address[:])
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(s.ctx, "tcp", string(address[:status.Count]))
}
