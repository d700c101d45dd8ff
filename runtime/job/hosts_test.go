package job

import (
	"strings"
	"testing"
)

func TestWhoIsWhere(t *testing.T) {
	m := create(t, 5, Options{Hosts: []int{0, 0, 1, 1, 2}, Host: 1})
	other, err := Map(again(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, m := range []*Memory{m, other} {
		if m.Hosts() != 3 || m.Host() != 1 || m.Sharers() != 2 {
			t.Errorf("%d hosts, host %d, %d sharers; want 3, 1, 2", m.Hosts(), m.Host(), m.Sharers())
		}
		for rank, host := range []int{0, 0, 1, 1, 2} {
			if m.HostOf(rank) != host || m.Local(rank) != (host == 1) {
				t.Errorf("rank %d: host %d, local %v", rank, m.HostOf(rank), m.Local(rank))
			}
		}
	}
}

func TestOneHostByDefault(t *testing.T) {
	m := create(t, 3, Options{})
	if m.Hosts() != 1 || m.Host() != 0 || !m.Local(2) || m.Sharers() != 3 {
		t.Errorf("%d hosts, host %d, rank 2 local %v, %d sharers", m.Hosts(), m.Host(), m.Local(2), m.Sharers())
	}
}

func TestEachRankItsHost(t *testing.T) {
	m := create(t, 3, Options{Hosts: []int{0, 1, 2}, Host: EachItsHost})
	if m.Host() != EachItsHost || m.Local(0) || m.Sharers() != 3 {
		t.Errorf("host %d, rank 0 local %v, %d sharers", m.Host(), m.Local(0), m.Sharers())
	}
	m.SetRank(2)
	if m.Host() != 2 || m.Local(0) || !m.Local(2) {
		t.Errorf("as rank 2: host %d, local: rank 0 %v, rank 2 %v", m.Host(), m.Local(0), m.Local(2))
	}
}

func TestCreateRefusesHosts(t *testing.T) {
	for want, opt := range map[string]Options{
		"hosts of 1 ranks":  {Hosts: []int{0}},
		"a rank on host -1": {Hosts: []int{0, -1}},
		"3 hosts":           {Hosts: []int{0, 2}},
		"host 2 of 2 hosts": {Hosts: []int{0, 1}, Host: 2},
		"host -2 of":        {Host: -2},
		"3 ranks share":     {Sharers: 3},
	} {
		m, err := Create(2, opt)
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", opt, err, want)
		}
	}
}

func TestMapRefusesHosts(t *testing.T) {
	for want, spoil := range map[string]func(*Memory){
		"host 2 of 2 hosts":     func(m *Memory) { headerOf(m.mem).host = 2 },
		"host -2 of":            func(m *Memory) { headerOf(m.mem).host = -2 },
		"host 0 of 0 hosts":     func(m *Memory) { headerOf(m.mem).hosts = 0 },
		"3 ranks share":         func(m *Memory) { headerOf(m.mem).sharers = 3 },
		"rank 1 is on host 7 o": func(m *Memory) { lineOf(m.mem, 1).host = 7 },
	} {
		m := create(t, 2, Options{Hosts: []int{0, 1}})
		spoil(m)
		other, err := Map(again(t, m))
		if err == nil {
			other.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestFailureElsewhereNamesTheHost(t *testing.T) {
	m := create(t, 3, Options{Hosts: []int{0, 1, 1}})
	m.Report(0, Failed, 3)
	m.Report(1, Failed, CodeHostLost)
	if got := m.Failure(1).Error(); got != "rank 1 failed: its host was lost" {
		t.Error(got)
	}
	m.SetHostNames([]string{"a", "b"})
	if got := m.Failure(1).Error(); got != "rank 1 (b) failed: its host was lost" {
		t.Error(got)
	}
	if got := m.Failure(0).Error(); got != "rank 0 failed: exited with code 3" {
		t.Error(got)
	}
}

func TestSetAddressWakes(t *testing.T) {
	m := create(t, 2, Options{InProcess: true, Hosts: []int{0, 1}})
	ticket := m.Drowse(0)
	if err := m.SetAddress(1, make([]byte, MaxAddress)); err != nil {
		t.Fatal(err)
	}
	m.Sleep(0, ticket) // returns: the bell was rung
	m.Wake(0)
	if n := len(m.Address(1)); n != MaxAddress {
		t.Errorf("an address of %d bytes", n)
	}
}
