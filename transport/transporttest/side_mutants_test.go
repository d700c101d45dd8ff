package transporttest_test

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// Mistakes in what only some transports have. The suite must find those, too.
var sideMutants = map[string]mutant{
	"waits in TrySend": onTrySend("TrySend_refuses_rather", func(c side, msg []byte) (bool, error) {
		return true, c.Send(msg)
	}),
	"takes nothing": onTrySend("TrySend_refuses_rather", func(side, []byte) (bool, error) { return false, nil }),
	"sends what it refuses": onTrySend("TrySend_refuses_rather", func(c side, msg []byte) (bool, error) {
		sent, err := c.TrySend(msg)
		return sent && msg[0] != 2, err
	}),
	"drops what it takes": onTrySend("TrySend_refuses_rather", func(c side, msg []byte) (bool, error) {
		if msg[0] == 2 {
			return true, nil
		}
		return c.TrySend(msg)
	}),
	"refuses without an error": onTrySend("TrySend_refuses_what", func(c side, msg []byte) (bool, error) {
		sent, _ := c.TrySend(msg)
		return sent, nil
	}),
	"sends with an error": onTrySend("TrySend_refuses_what", func(c side, msg []byte) (bool, error) {
		_, err := c.TrySend(msg)
		return true, err
	}),
	"tries too late": onTrySend("messages_of_TrySend_and_Send", triesLate()),
	"puts too late":  onPutSend("a_PutSend_is_delivered_behind", putsLate()),
	"sends what cannot be put": onPutSend("a_PutSend_refuses", func(c side, dst transport.Remote, src, msg []byte) error {
		return errors.Join(c.Put(dst, src, 0), c.Send(msg))
	}),
	"puts what fits": onPutSend("a_PutSend_refuses", func(c side, dst transport.Remote, src, msg []byte) error {
		return c.PutSend(dst, src[:min(int64(len(src)), dst.Len)], msg)
	}),
	"drops without credit": onPutSend("a_sender_of_PutSends", func(c side, dst transport.Remote, src, msg []byte) error {
		_, err := c.TrySend(msg)
		return err
	}),
	"is silent":       onDescriptor(0),
	"is never silent": onDescriptor(1),
	"polls itself":    {pollsItself, func(e transport.Endpoint) transport.Endpoint { return e }},
}

// pollsItself is found by the rule's whole name, and recognised by it.
const pollsItself = "watched/the_descriptor_of_a_rank_that_rests"

// pollItself does what a rank that watches does itself.
func pollItself(cfg transport.Config, e transport.Endpoint) {
	for {
		fds := []unix.PollFd{{Fd: int32(e.(transport.Waker).Descriptor()), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, -1); n > 0 {
			cfg.Progress()
		}
	}
}

// A side is a connection of the reference.
type side interface {
	transport.Conn
	transport.TrySender
	transport.PutSender
}

type mutatedTry struct {
	side
	try func(c side, msg []byte) (bool, error)
}

func (c mutatedTry) TrySend(msg []byte) (bool, error) { return c.try(c.side, msg) }

func onTrySend(rule string, try func(c side, msg []byte) (bool, error)) mutant {
	return mutant{rule: rule, endpoint: onConn(func(c transport.Conn) transport.Conn { return mutatedTry{c.(side), try} })}
}

type mutatedPut struct {
	side
	put func(c side, dst transport.Remote, src, msg []byte) error
}

func (c mutatedPut) PutSend(dst transport.Remote, src, msg []byte) error {
	return c.put(c.side, dst, src, msg)
}

func onPutSend(rule string, put func(c side, dst transport.Remote, src, msg []byte) error) mutant {
	return mutant{rule: rule, endpoint: onConn(func(c transport.Conn) transport.Conn { return mutatedPut{c.(side), put} })}
}

// triesLate keeps a message back until the next TrySend.
func triesLate() func(c side, msg []byte) (bool, error) {
	var kept []byte
	return func(c side, msg []byte) (bool, error) {
		last := kept
		kept = append([]byte(nil), msg...)
		if last == nil {
			return true, nil
		}
		return true, c.Send(last)
	}
}

// putsLate keeps a payload back until the next PutSend.
func putsLate() func(c side, dst transport.Remote, src, msg []byte) error {
	var last func() error
	return func(c side, dst transport.Remote, src, msg []byte) error {
		if last != nil {
			if err := last(); err != nil {
				return err
			}
		}
		kept := append([]byte(nil), src...)
		last = func() error { return c.Put(dst, kept, 0) }
		return c.Send(msg)
	}
}

type otherDescriptor struct {
	transport.Endpoint
	fd int
}

func (e otherDescriptor) Descriptor() int { return e.fd }

// onDescriptor has another descriptor, which is readable or not for good.
func onDescriptor(count uint) mutant {
	return mutant{rule: "watched/the_descriptor_of", endpoint: func(e transport.Endpoint) transport.Endpoint {
		fd, err := unix.Eventfd(count, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			panic(err) // the test's process ends
		}
		return otherDescriptor{e, fd}
	}}
}
