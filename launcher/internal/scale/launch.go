package scale

import "github.com/golaunch/golaunch/launcher/internal/tree"

// A Launch is a job to be launched.
type Launch struct {
	Hosts, Ranks int
	// Arity of the launch tree; Hosts or more: a star.
	Arity int
	// Cores is how many each host has for its ranks.
	Cores int
	// OneMachine is how many processors all hosts share that one machine plays; 0: each
	// host is a machine.
	OneMachine int
	// Joined leaves agents out: hosts join by themselves, as with golaunch --listen.
	Joined bool
	// Meets says that the ranks meet at a barrier.
	Meets bool
}

// The sizes of what is said, in bytes.
const (
	startBytes    = 4096 // what to start: most is the environment
	hostBytes     = 24   // a host in the list of them, which all are told at once
	rankNews      = 3    // a rank's messages until it runs: started, joined, where it is reached
	rankTold      = 2    // what others are told of it
	rankNewsBytes = 100
	attachFrames  = 7 // that a host's attaching has pass each host above it, in both directions
	attachBytes   = 400
)

// ackEvery is the time between two acknowledgements of a host that has something to
// acknowledge all the time: launcher/internal/relay's tick, with the default failure timeout.
const ackEvery = 10 * Second / 22

// An Outcome is how a launch went.
type Outcome struct {
	// Placed to Met are when the agents had reserved slots, all hosts had attached, the
	// root had told the last of them what to start, had passed on where the last rank is,
	// everybody knew of everybody, and the first barrier was over.
	Placed, Attached, Told, Joined, Known, Met Instant
	CPU                                        Instant // of everybody
	RootCPU                                    Instant // of golaunch
	RootBytes                                  float64 // sent by it
	InnerBytes                                 float64 // sent by the host that sends most
}

// Simulate launches a job.
func Simulate(l Launch, c *Costs) Outcome {
	s := newLaunching(l, c)
	s.place()
	s.summon()
	s.run()
	s.tell()
	s.run()
	s.multicast()
	s.meet()
	s.sum()
	return s.o
}

// launching is a launch under way. The root is host number Hosts.
type launching struct {
	Launch
	*Costs
	places   []tree.Place
	children [][]int32
	servers  []server // the supervisors' and the root's: package relay does one thing at a time
	agents   []server
	shared   *pool
	queue    Queue[event]
	o        Outcome
}

// An event is something that reaches a host, or the root.
type event struct {
	kind kind
	at   int32 // where
	host int32 // whose affair it is
}

type kind uint8

const (
	asked    kind = iota // its agent is asked to start a supervisor
	attached             // frames of an attachment pass a host upwards
	ordered              // what to start passes a host downwards
	started              // news of a host's ranks pass a host upwards
)

func newLaunching(l Launch, c *Costs) *launching {
	s := &launching{Launch: l, Costs: c, places: tree.Topology(l.Hosts, l.Arity), children: make([][]int32, l.Hosts+1)}
	for i := range s.places {
		p := s.above(int32(i))
		s.children[p] = append(s.children[p], int32(i))
	}
	s.servers, s.agents = make([]server, l.Hosts+1), make([]server, l.Hosts+1)
	if l.OneMachine > 0 {
		s.shared = newPool(l.OneMachine)
	}
	return s
}

func (s *launching) root() int32 { return int32(s.Hosts) }

// above is who a host attaches to.
func (s *launching) above(host int32) int32 {
	if p := s.places[host].Parent; p >= 0 {
		return int32(p)
	}
	return s.root()
}

func (s *launching) ranksPerHost() float64 { return float64(s.Ranks) / float64(s.Hosts) }

// place asks every host's agent of its host, and has it reserve slots. The agent that asks
// uses all of its cores.
func (s *launching) place() {
	if s.Joined {
		return
	}
	n := float64(s.Hosts)
	asking := s.Request.times(n/2) + s.Kept.times(n/2)
	s.o.Placed = asking/Instant(s.Cores) + 4*s.Latency.time()
	s.o.CPU += 2 * asking
}

// summon has supervisors started, down the tree of agents; or all at once.
func (s *launching) summon() {
	s.servers[s.root()].do(0, s.Front.time(), s.shared)
	if !s.Joined {
		s.ask(s.root(), s.o.Placed)
		return
	}
	for i := range s.places {
		s.queue.Add(0, event{asked, int32(i), int32(i)})
	}
}

// ask has an agent ask those below it to start supervisors.
func (s *launching) ask(from int32, at Instant) {
	for _, child := range s.children[from] {
		below := s.places[child].Subtree
		cost := s.Request.times(0.5) + s.Entry.times(float64(below.End-below.First)/2)
		s.queue.Add(s.agents[from].do(at, cost, s.shared)+s.Latency.time(), event{asked, child, child})
	}
}

// run lets happen what happens.
func (s *launching) run() {
	for {
		at, e, ok := s.queue.Next()
		if !ok {
			return
		}
		switch e.kind {
		case asked:
			s.start(e.at, at)
		case attached:
			s.pass(e, at, attachFrames, attachBytes)
		case started:
			s.pass(e, at, rankNews*s.ranksPerHost(), rankNews*rankNewsBytes*s.ranksPerHost())
		case ordered:
			s.order(e, at)
		}
	}
}

// start starts a host's supervisor, which attaches.
func (s *launching) start(host int32, at Instant) {
	me, up := &s.servers[host], s.above(host)
	if !s.Joined {
		below := s.places[host].Subtree
		at = s.agents[host].do(at, s.Request.times(0.5)+s.Entry.times(float64(below.End-below.First)/2), s.shared)
	}
	at = me.do(at, s.Supervisor.time(), s.shared)
	if !s.Joined {
		s.ask(host, at)
	}
	at = me.do(at, s.Attach.times(0.5), s.shared)
	at = s.servers[up].do(at, s.Attach.times(0.5), s.shared)
	s.queue.Add(at+3*s.Latency.time(), event{attached, up, host})
}

// pass has frames pass a host on their way to the root.
func (s *launching) pass(e event, at Instant, frames, bytes float64) {
	at = s.handle(e.at, at, frames, bytes)
	if e.at != s.root() {
		s.queue.Add(at+s.Latency.time(), event{e.kind, s.above(e.at), e.host})
		return
	}
	switch e.kind {
	case attached:
		s.o.Attached = max(s.o.Attached, at)
	case started:
		s.o.Joined = max(s.o.Joined, s.servers[s.root()].do(at, s.News.times(frames)+s.saying(rankTold*s.ranksPerHost()), s.shared))
	}
}

// handle is the work of a host with frames that come together. One that has nothing else
// to do must be woken.
func (s *launching) handle(host int32, at Instant, frames, bytes float64) Instant {
	cost := s.Frame.times(frames) + s.KiB.times(bytes/1024)
	if s.servers[host].idle(at) {
		cost += s.Wake.time()
	}
	return s.servers[host].do(at, cost, s.shared)
}

// tell has the root tell every host what to start.
func (s *launching) tell() {
	root, at := &s.servers[s.root()], s.o.Attached
	for range s.children[s.root()] {
		at = root.do(at, s.KiB.times(s.listBytes()/1024), s.shared)
	}
	s.o.RootBytes += s.listBytes()*float64(len(s.children[s.root()])) + startBytes*float64(s.Hosts)
	for i := range s.places {
		at = root.do(at, s.Frame.time()+s.KiB.times(startBytes/1024/2), s.shared)
		s.queue.Add(at+s.Latency.time(), event{ordered, s.towards(s.root(), int32(i)), int32(i)})
	}
	s.o.Told = at
}

func (s *launching) listBytes() float64 { return hostBytes * float64(s.Hosts) }

// towards is who of those attached to a host leads to another.
func (s *launching) towards(from, host int32) int32 {
	for s.above(host) != from {
		host = s.above(host)
	}
	return host
}

// order has a host take what it is to start, or pass it on.
func (s *launching) order(e event, at Instant) {
	at = s.handle(e.at, at, 1, startBytes)
	if e.at != e.host {
		s.queue.Add(at+s.Latency.time(), event{ordered, s.towards(e.at, e.host), e.host})
		return
	}
	r, me := s.ranksPerHost(), &s.servers[e.host]
	at = me.do(at, s.RankServed.times(r), s.shared)
	s.queue.Add(s.ranks(at, r), event{started, s.above(e.host), e.host})
}

// ranks are the ranks' own work, on the host's cores.
func (s *launching) ranks(at Instant, r float64) Instant {
	own := (s.Rank.Value - s.RankServed.Value) * unitOf(s.Rank.Unit)
	s.o.CPU += Instant(own * r)
	if s.shared != nil {
		for range int(r) {
			at = max(at, s.shared.take(at, Instant(own)))
		}
		return at
	}
	return at + Instant(own*max(r/float64(s.Cores), 1))
}
