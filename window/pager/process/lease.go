package process

import (
	"fmt"

	"github.com/golaunch/golaunch/window/coherence"
)

// T of the leases is the time after which a peer counts as unreachable; ticks are
// nanoseconds of each pager's own clock.

// startLease begins the host's lease, and at the root the watch over all.
func (s *space) startLease() {
	now, t := coherence.Ticks(s.g.now()), s.g.leaseTime()
	s.lease = coherence.NewLease(uint8(s.spec.Self), t, now)
	if s.isRoot() {
		s.watch = coherence.NewWatch(len(s.spec.Hosts), t, now)
	}
}

func (s *space) isRoot() bool { return s.spec.Self == 0 }

// tick looks at all leases.
func (g *pager) tick() error {
	now := g.now()
	if g.ticks == 0 || now < g.ticks {
		return nil
	}
	g.ticks = 0
	for _, s := range g.spaces {
		if len(s.spec.Hosts) == 1 {
			continue
		}
		g.ticks = now + int64(g.leaseTime())/4
		if err := s.tick(coherence.Ticks(now)); err != nil {
			return err
		}
	}
	return nil
}

func (s *space) tick(now coherence.Ticks) error {
	tick := coherence.Pulse{Kind: coherence.Tick}
	if s.isRoot() {
		// The root hears itself.
		s.pulses = s.watch.Step(now, coherence.Pulse{Kind: coherence.Beat, At: now}, s.pulses[:0])
		s.pulses = s.watch.Step(now, tick, s.pulses[:0])
	} else {
		s.pulses = s.lease.Step(now, tick, s.pulses[:0])
	}
	return s.act()
}

// pulse takes what another host says of who lives.
func (s *space) pulse(host int, p coherence.Pulse) error {
	now := coherence.Ticks(s.g.now())
	switch {
	case p.Kind == coherence.Beat && s.isRoot() && int(p.Host) < len(s.spec.Hosts) && s.spec.Hosts[p.Host] == host:
		s.pulses = s.watch.Step(now, p, s.pulses[:0])
	case p.Kind == coherence.BeatAck && host == s.spec.Hosts[0]:
		s.pulses = s.lease.Step(now, p, s.pulses[:0])
	case p.Kind == coherence.Dead && host == s.spec.Hosts[0] && int(p.Host) < len(s.spec.Hosts):
		return s.died(p.Host)
	default:
		return fmt.Errorf("window %#x: a pulse of kind %d about host %d from host %d", s.id, p.Kind, p.Host, host)
	}
	return s.act()
}

// act does what lease and watch have said.
func (s *space) act() error {
	for _, p := range s.pulses {
		switch p.Kind {
		case coherence.Beat:
			s.g.links[s.spec.Hosts[0]].beat(s.id, p)
		case coherence.BeatAck:
			s.g.links[s.spec.Hosts[p.Host]].beat(s.id, p)
		case coherence.Fenced:
			if err := s.happens(coherence.Fence, 0); err != nil {
				return err
			}
		case coherence.Dead:
			for i, host := range s.spec.Hosts {
				if i != s.spec.Self && i != int(p.Host) {
					s.g.links[host].beat(s.id, p)
				}
			}
			if err := s.died(p.Host); err != nil {
				return err
			}
		}
	}
	return nil
}

// died: a host has fenced itself, and its copies are gone.
func (s *space) died(host uint8) error {
	self := uint8(s.spec.Self)
	return s.step(coherence.Msg{Kind: coherence.HostDead, From: self, To: self, Host: host})
}
