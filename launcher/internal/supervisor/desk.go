package supervisor

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
)

// listen answers the hellos that come over a rank's inherited socket. There is
// one, unless the rank's process has children that take themselves for the rank.
func (s *supervisor) listen(r *rank) {
	for {
		hello, private, err := boot.Receive(r.inherited)
		switch {
		case errors.Is(err, boot.ErrPacket):
			continue
		case err != nil:
			r.inherited.Close()
			return
		case private == nil:
			continue
		case hello.Kind != boot.Hello:
			private.Close()
			continue
		}
		s.welcome(r, hello, private)
	}
}

func (s *supervisor) welcome(r *rank, hello boot.Packet, private *os.File) {
	if reason := s.admit(r, hello, creator(private)); reason != "" {
		boot.Send(private, boot.Packet{Kind: boot.Refused, Text: reason}, nil)
		private.Close()
		return
	}
	p := boot.Packet{Rank: int32(r.number), Size: int32(s.size), Text: s.host}
	boot.SendWelcome(private, p, s.details, s.memory.File())
	go s.attend(r, private)
}

// creator is the process that made a socket pair, as the kernel knows it.
func creator(socket *os.File) (pid int) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Control(func(fd uintptr) {
		if cred, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// attend answers what a rank that has joined asks for.
func (s *supervisor) attend(r *rank, private *os.File) {
	defer s.hungUp(r)
	defer private.Close()
	for {
		p, file, err := boot.Receive(private)
		if err != nil {
			return
		}
		s.answer(r, private, p, file)
	}
}

func (s *supervisor) answer(r *rank, private *os.File, p boot.Packet, file *os.File) {
	reply := func(f *os.File, err error) {
		answer := boot.Packet{Kind: boot.Done, ID: p.ID}
		if err != nil {
			answer.Kind, answer.Text = boot.Failed, err.Error()
		}
		if err := boot.Send(private, answer, f); err != nil && f != nil { // withdrawn meanwhile
			boot.Send(private, boot.Packet{Kind: boot.Failed, ID: p.ID, Text: err.Error()}, nil)
		}
	}
	if p.Kind == boot.Publish && file != nil {
		reply(nil, s.publish(r, p, file))
		return
	}
	if file != nil {
		file.Close()
	}
	switch p.Kind {
	case boot.Withdraw:
		reply(nil, s.withdraw(r, p.Key))
	case boot.Open:
		s.open(p, reply)
	case boot.Address:
		reply(nil, s.announce(r, []byte(p.Text)))
	case boot.Report:
		s.front.Send(&control.Report{Rank: r.number, Figures: []byte(p.Text)})
		reply(nil, nil)
	case boot.Leave:
		s.goodbye(r)
		reply(nil, nil)
	case boot.Abort:
		s.front.Send(&control.Aborted{Rank: r.number, Code: int(p.Code), Text: p.Text})
		reply(nil, nil)
	default:
		reply(nil, fmt.Errorf("the supervisor does not understand a packet of kind %d", p.Kind))
	}
}

func (s *supervisor) publish(r *rank, p boot.Packet, file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Size() != p.Bytes {
		err = fmt.Errorf("the descriptor is of a file of %d bytes", info.Size())
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.segments.publish(segment{r.number, p.Key}, file)
	}
	if err != nil {
		file.Close()
	}
	return err
}

func (s *supervisor) withdraw(r *rank, key uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.segments.withdraw(segment{r.number, key})
}

// open replies now or, when the segment is published or cannot be any more, later.
func (s *supervisor) open(p boot.Packet, reply func(*os.File, error)) {
	s.mu.Lock()
	var file *os.File
	var later bool
	err := fmt.Errorf("rank %d is not on this host", p.Rank)
	if s.ranks[int(p.Rank)] != nil {
		file, later, err = s.segments.open(segment{int(p.Rank), p.Key}, reply)
	}
	s.mu.Unlock()
	if !later {
		reply(file, err)
	}
}
