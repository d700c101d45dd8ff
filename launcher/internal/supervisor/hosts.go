package supervisor

import (
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/cores"
	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// makeMemory makes the memory that this host's ranks share. mu is held.
func (s *supervisor) makeMemory(m *control.Start) error {
	opt := job.Options{Cores: cores.Usable(), Sharers: m.Sharers, Extra: group.Size(m.Size)}
	opt.Hosts, opt.Host = hostsOfRanks(m, s.hosts)
	memory, err := job.Create(m.Size, opt)
	s.memory = memory
	return err
}

// hostsOfRanks are job.Options.Hosts and Host: nil and 0 when nobody has named the
// job's hosts.
func hostsOfRanks(m *control.Start, all []control.Host) (hosts []int, own int) {
	switch {
	case len(all) == 0:
		return nil, 0
	case m.Apart:
		for rank := range m.Size {
			hosts = append(hosts, rank)
		}
		return hosts, job.EachItsHost
	}
	for host, h := range all {
		for range min(h.Ranks, m.Size-len(hosts)) {
			hosts = append(hosts, host)
		}
	}
	return hosts, m.Host
}

// details are what the job's ranks are told.
func details(m *control.Start, hosts []control.Host) boot.Details {
	d := boot.Details{Job: m.Job, Secret: m.Secret, Settings: boot.Settings{
		Transport: m.Settings.Transport, Interface: m.Settings.Interface, Loopback: m.Settings.Loopback,
		Encrypt: m.Settings.Encrypt, Stats: m.Settings.Stats, Timeout: time.Duration(m.Settings.Timeout),
	}}
	for _, h := range hosts {
		count := 1
		if m.Apart {
			count = h.Ranks
		}
		d.Hosts = append(d.Hosts, boot.Hosts{Name: h.Name, Count: count})
	}
	return d
}

// firstRank is the first rank of this host.
func firstRank(programs []control.Program) int {
	if len(programs) == 0 {
		return 0
	}
	return programs[0].First
}

// elsewhere notes in the job's memory what became of a rank on another host. An
// error says that the front is out of its mind.
func (s *supervisor) elsewhere(m control.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rank := -1
	switch m := m.(type) {
	case *control.Address:
		rank = m.Rank
	case *control.Fate:
		rank = m.Rank
	}
	if rank < 0 || rank >= s.size {
		return fmt.Errorf("the front sent a %T of rank %d", m, rank)
	}
	if s.memory == nil || s.ranks[rank] != nil { // Trouble was said; or all were told what this host has told
		return nil
	}
	switch m := m.(type) {
	case *control.Address:
		return s.memory.SetAddress(rank, m.Address)
	case *control.Fate:
		s.memory.Report(rank, job.State(m.State), int32(m.Code))
	}
	return nil
}

// announce takes a rank's address and passes it on.
func (s *supervisor) announce(r *rank, address []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.addressed {
		return fmt.Errorf("it has announced one")
	}
	if err := s.memory.SetAddress(r.number, address); err != nil {
		return err
	}
	r.addressed = true
	s.front.Send(&control.Address{Rank: r.number, Address: address})
	return nil
}
