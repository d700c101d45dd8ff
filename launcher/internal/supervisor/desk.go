package supervisor

import (
	"errors"
	"os"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/desk"
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
	pid, _ := desk.Creator(private)
	if reason := s.admit(r, hello, pid); reason != "" {
		boot.Send(private, boot.Packet{Kind: boot.Refused, Text: reason}, nil)
		private.Close()
		return
	}
	p := boot.Packet{Rank: int32(r.number), Size: int32(s.size), Text: s.host}
	boot.SendWelcome(private, p, s.details, s.memory.File())
	go s.attend(r, private)
}

// attend answers what a rank that has joined asks for.
func (s *supervisor) attend(r *rank, private *os.File) {
	s.desk.Serve(private, r.number, caller{s, r})
	private.Close()
	s.hungUp(r)
}

// A caller is a rank at the desk.
type caller struct {
	s *supervisor
	r *rank
}

func (c caller) Announce(_ int, address []byte) error { return c.s.announce(c.r, address) }
func (c caller) Leave()                               { c.s.goodbye(c.r) }

func (c caller) Pager(host uint64) (*os.File, error) { return c.s.pagers.admit(c.s, c.r, host) }

func (c caller) Report(figures []byte) {
	c.s.front.Send(&control.Report{Rank: c.r.number, Figures: figures})
}

func (c caller) Abort(code int, text string) {
	c.s.front.Send(&control.Aborted{Rank: c.r.number, Code: code, Text: text})
}

// has tells whether a rank is on this host.
func (s *supervisor) has(rank int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranks[rank] != nil
}
