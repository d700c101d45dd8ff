package main

import (
	"math"

	"github.com/golaunch/golaunch/launcher/internal/scale"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// What the predictions are for: hosts with so many cores, so much memory, and so many
// ranks.
const (
	cores        = 16
	memory       = 64e9 // bytes
	ranksPerHost = 10
	seed         = 1
)

var (
	sizes   = []int{5, 50, 200, 1000, 5000, 20000, 100000}
	arities = []int{2, 4, 8, 16, 32, 64}
)

// A prediction is everything that the page and the chart show.
type prediction struct {
	costs  scale.Costs
	launch map[int][]scale.Outcome // by arity, 0: a star; one for each of sizes
	gossip map[string][]news       // by profile
}

type news struct {
	spread scale.Spread
	death  scale.Death
	probes float64 // bytes a second
	pushes float64
	cpu    float64 // of a core
}

func predict() (*prediction, error) {
	c, err := scale.Measured()
	p := &prediction{costs: c, launch: map[int][]scale.Outcome{}, gossip: map[string][]news{}}
	for _, hosts := range sizes {
		for _, arity := range append([]int{0}, arities...) {
			p.launch[arity] = append(p.launch[arity], scale.Simulate(job(hosts, arity), &p.costs))
		}
	}
	for _, s := range []scale.Settings{scale.LAN(), scale.Local(), scale.WAN()} {
		for _, members := range sizes {
			p.gossip[s.Name] = append(p.gossip[s.Name], p.news(s, members))
		}
	}
	return p, err
}

// job is a launch on so many hosts; arity 0: a star.
func job(hosts, arity int) scale.Launch {
	if arity == 0 {
		arity = hosts
	}
	return scale.Launch{Hosts: hosts, Ranks: hosts * ranksPerHost, Arity: arity, Cores: cores, Meets: true}
}

// news is how news spread. Few members are simulated many times.
func (p *prediction) news(s scale.Settings, members int) (n news) {
	n.spread = meanSpread(s, members)
	n.death = scale.Die(s, members, n.spread, seed)
	n.probes, n.pushes = scale.Idle(s, members, &p.costs)
	n.cpu = scale.IdleCPU(s, members, &p.costs)
	return n
}

func meanSpread(s scale.Settings, members int) (mean scale.Spread) {
	times := max(1, min(200, 10000/members))
	for i := range times {
		one := scale.Tell(s, members, seed+uint64(i))
		mean.Half += one.Half / scale.Instant(times)
		mean.Most += one.Most / scale.Instant(times)
		mean.All += one.All / scale.Instant(times)
		mean.Packets += one.Packets / float64(times)
		mean.Missed += one.Missed
	}
	mean.Missed = int(math.Round(float64(mean.Missed) / float64(times)))
	return mean
}

// settings are those of a profile.
func settings(name string) scale.Settings {
	for _, s := range []scale.Settings{scale.LAN(), scale.Local(), scale.WAN()} {
		if s.Name == name {
			return s
		}
	}
	return scale.Settings{}
}

// onOneMachine is a launch whose hosts a machine with two cores plays, without agents.
func (p *prediction) onOneMachine(hosts, ranks int, meets bool) scale.Outcome {
	return scale.Simulate(scale.Launch{
		Hosts: hosts, Ranks: ranks, Arity: tree.Arity, Cores: 2, OneMachine: 2, Joined: true, Meets: meets,
	}, &p.costs)
}

// replayed is the launch tree's part of that alone, with four ranks a host.
func (p *prediction) replayed(hosts int) scale.Outcome {
	c := p.costs
	for _, none := range []*scale.Cost{&c.Front, &c.Supervisor, &c.Rank, &c.RankServed, &c.News} {
		none.Value = 0
	}
	return scale.Simulate(scale.Launch{
		Hosts: hosts, Ranks: 4 * hosts, Arity: tree.Arity, Cores: 2, OneMachine: 2, Joined: true,
	}, &c)
}
