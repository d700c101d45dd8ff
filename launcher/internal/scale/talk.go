package scale

import (
	"math"

	"github.com/golaunch/golaunch/runtime/group/exchange"
)

// saying is the root's work with so many things that all are told.
func (s *launching) saying(told float64) Instant {
	links := float64(len(s.children[s.root()]))
	return s.Multicast.times(told*links) + s.KiB.times(told*rankNewsBytes*links/1024/2)
}

// multicast has what the root told all of every rank reach them. All hosts of one depth do
// the same, so one way from the root to the host farthest below stands for all.
//
// What the root reads meanwhile are acknowledgements.
func (s *launching) multicast() {
	told := rankTold * float64(s.Ranks)
	acks := s.acks(told)
	s.servers[s.root()].used += acks
	s.o.RootBytes += told * rankNewsBytes * float64(len(s.children[s.root()]))
	widest := 0
	for host, children := range s.children[:s.Hosts] {
		widest = max(widest, len(children))
		s.servers[host].used += s.relaying(told, len(children))
	}
	s.o.InnerBytes = told*rankNewsBytes*float64(widest) + s.attachedBytes()
	s.o.Known = s.o.Joined + acks
	if s.shared != nil {
		s.o.Known += s.busy(told) / Instant(len(s.shared.free))
		return
	}
	lag := s.relaying(told, widest) - s.saying(told) // what a host needs longer than the root
	s.o.Known += max(lag, 0) + Instant(s.depth())*(s.Wake.time()+s.Latency.time())
}

// attachedBytes is what the host below the root with most below it sends upwards.
func (s *launching) attachedBytes() float64 {
	below := s.places[0].Subtree
	return float64(below.End-below.First) * (attachBytes + rankNews*rankNewsBytes*s.ranksPerHost())
}

// relaying is a host's work with what all are told.
func (s *launching) relaying(told float64, children int) Instant {
	return s.Multicast.times(told*float64(children)) + s.KiB.times(told*rankNewsBytes*float64(1+children)/1024/2)
}

// busy is the hosts' work with what all are told.
func (s *launching) busy(told float64) (sum Instant) {
	for _, children := range s.children[:s.Hosts] {
		sum += s.relaying(told, len(children))
	}
	return sum
}

// acks is what acknowledgements cost the root while it tells what is told, which takes
// longer for them. Every host sends one by itself at each of its ticks, and a last one; more
// than one for each record there cannot be.
func (s *launching) acks(told float64) Instant {
	round := s.Frame.times(float64(s.Hosts))
	all := Instant(float64(round) * told)
	share := float64(round) / float64(ackEvery) // of a core
	if share >= 1 {
		return all
	}
	telling := float64(s.o.Joined-s.o.Told) / (1 - share)
	return min(all, Instant(float64(round)*(1+telling/float64(ackEvery))))
}

func (s *launching) depth() (most int) {
	for i := range s.places {
		most = max(most, s.places[i].Depth)
	}
	return most
}

// meet has the ranks meet: within a host in shared memory, between hosts in steps, in each
// of which every host connects to some others (runtime/group/exchange.Route).
func (s *launching) meet() {
	s.o.Met = s.o.Known
	if !s.Meets || s.Hosts == 1 {
		return
	}
	steps, connections := meeting(s.Hosts)
	cpu := s.Meet.times(float64(connections * s.Hosts))
	s.o.CPU += cpu
	if s.shared != nil {
		s.o.Met += cpu / Instant(len(s.shared.free))
		return
	}
	s.o.Met += s.Meet.times(float64(connections)) + Instant(steps)*3*s.Latency.time()
}

// meeting is how many steps a barrier between hosts has, and from how many others each
// host hears.
func meeting(hosts int) (steps, connections int) {
	sends, sources := exchange.Route(0, hosts, exchange.Radix)
	for i, s := range sends {
		if i == 0 || s.After != sends[i-1].After {
			steps++
		}
	}
	return steps, len(sources)
}

func (s *launching) sum() {
	for i := range s.servers {
		s.o.CPU += s.servers[i].used + s.agents[i].used
	}
	s.o.RootCPU = s.servers[s.root()].used
}

// Stage is how long content takes to reach every host: launcher/internal/stage/spread's
// plan, a chain up to 32 hosts, beyond that two from each. Rate is bytes a second of a
// link, hop what a connection costs.
func Stage(hosts int, bytes, rate float64, hop Instant) Instant {
	const maxChain = 32
	once := Instant(bytes / rate * float64(Second))
	if hosts <= maxChain {
		return once + Instant(hosts)*hop
	}
	return 2*once + Instant(math.Ceil(math.Log2(float64(hosts+2))-1))*hop
}
