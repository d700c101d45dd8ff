package exchange

import (
	"errors"
	"fmt"
	"slices"
)

const (
	maxHosts   = 6
	maxMembers = 6
	payloadLen = 2
)

// A model is one state of a group's hosts, members and everything on the way
// between them. It is comparable, and small.
//
// What a leader sends to another one is known and comes in order, so what is on the
// way between two hosts is two numbers.
type model struct {
	shape   *shape
	members [maxMembers]memberModel
	hosts   [maxHosts]hostModel
	breaks  int8 // how many members may still break the group
}

type memberModel struct {
	published int8 // rounds
	over      int8 // rounds that are over for it
	out       bool // it has broken the group
	left      bool // the job
	dead      bool // it was killed: left, but not in good order
}

type hostModel struct {
	begun     int8                                    // the last round that was sent, perhaps not yet to all
	sent      [maxHosts]int8                          // messages to each host
	accepted  [maxHosts]int8                          // messages from each host
	done      int8                                    // the last round that is over
	slots     [maxMembers][2][payloadLen]byte         // by member and parity
	heads     [maxMembers][2]int8                     // the round of each slot
	remotes   [maxMembers]struct{ round, bytes int8 } // State's
	sources   [maxHosts]struct{ round, entered int8 } // State's
	received  int8
	broken    bool
	breakSent [maxHosts]bool // a break from here to there is on the way
	knowsLeft [maxMembers]bool
}

// A shape is what does not change.
type shape struct {
	hosts    []int // by member
	leaders  []int // by host
	radix    int
	sends    [][]Send   // by host: what Route says
	sources  [][]Source // by host
	near     [][]bool   // by host and host: one sends to the other
	kill     int8       // member kill-1 may be killed at any time
	rounds   int8       // after which everybody leaves
	quits    [2]int8    // member quits[0], if quits[1] >= 0, leaves after quits[1] rounds
	split    bool       // payloads travel in parts
	mayBreak bool
	stays    bool // whoever breaks the group does not leave the job
	fault    fault
	messages map[[3]int8][][]byte // by host, host and round
}

// A fault is a mistake that the properties must find.
type fault int

const (
	none         fault = iota
	oneSlot            // parity is not used
	eagerLeader        // the leader does not wait for its host's members
	leftIsFailed       // a rank's leaving is believed before what it sent has come
	silentBreak        // a break is not told to other hosts
	unsentIsOver       // a round is over for a host that has not sent it
	hasty              // what a host passes on is sent before it has come
	deaf               // nobody minds that a source has failed
	notPassedOn        // a break is told by the host that breaks only
	faults
)

func newModel(perHost []int, radix int, rounds int8, s shape) model {
	s.rounds, s.radix, s.messages = rounds, radix, map[[3]int8][][]byte{}
	for h, n := range perHost {
		s.leaders = append(s.leaders, len(s.hosts))
		for range n {
			s.hosts = append(s.hosts, h)
		}
	}
	s.near = make([][]bool, len(perHost))
	for h := range perHost {
		s.near[h] = make([]bool, len(perHost))
	}
	for h := range perHost {
		sends, sources := Route(h, len(perHost), radix)
		s.sends, s.sources = append(s.sends, sends), append(s.sources, sources)
		for _, send := range sends {
			for _, to := range send.To {
				s.near[h][to], s.near[to][h] = true, true
				for r := int8(1); r <= rounds; r++ {
					s.messages[[3]int8{int8(h), int8(to), r}] = s.encode(h, send.Hosts, r)
				}
			}
		}
	}
	return model{shape: &s}
}

// to returns which of its sends a host makes to another one; nil: it does not.
func (s *shape) to(from, to int) *Send {
	for i, send := range s.sends[from] {
		for _, t := range send.To {
			if t == to {
				return &s.sends[from][i]
			}
		}
	}
	return nil
}

func payloadOf(member int, round int8) []byte {
	return []byte{byte(member)<<4 | byte(round), ^(byte(member)<<4 | byte(round))}
}

// encode makes the messages of a round in which a host speaks for some from itself
// on, as small as split asks for.
func (s *shape) encode(host, hosts int, round int8) [][]byte {
	room := 1000
	if s.split {
		room = headSize + partSize + 1
	}
	var all [][]byte
	m := Begin(make([]byte, 0, room), uint64(round))
	for member, h := range s.hosts {
		if (h-host+len(s.leaders))%len(s.leaders) >= hosts {
			continue
		}
		for next, full := m.Add(member, 7, payloadOf(member, round), 0); full; {
			all = append(all, m.Bytes())
			m = Begin(make([]byte, 0, room), uint64(round))
			next, full = m.Add(member, 7, payloadOf(member, round), next)
		}
	}
	return append(all, m.Bytes())
}

func (s *shape) parity(round int8) int8 {
	if s.fault == oneSlot {
		return 0
	}
	return round & 1
}

// perRound is how many messages a host sends to another one in a round.
func (s *shape) perRound(from, to int) int8 {
	return int8(len(s.messages[[3]int8{int8(from), int8(to), 1}]))
}

// end is how many rounds a member takes part in.
func (s *shape) end(member int) int8 {
	if s.quits[1] >= 0 && int(s.quits[0]) == member {
		return s.quits[1]
	}
	return s.rounds
}

// nexts are all states that one step leads to.
func (w *model) nexts(visit func(model) error) error {
	for m := range w.shape.hosts {
		if err := w.memberSteps(m, visit); err != nil {
			return err
		}
		if err := w.kill(m, visit); err != nil {
			return err
		}
	}
	for h := range w.shape.leaders {
		for other := range w.shape.leaders {
			if h == other {
				continue
			}
			if err := w.hostSteps(h, other, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberSteps: publish, find the round over, fail, break, leave, and be known to have left.
func (w *model) memberSteps(m int, visit func(model) error) error {
	me, host := w.members[m], w.shape.hosts[m]
	h := &w.hosts[host]
	waits := me.published > me.over && !me.out
	switch {
	case me.left:
		for other := range w.shape.leaders {
			if !w.hosts[other].knowsLeft[m] {
				n := *w
				n.hosts[other].knowsLeft[m] = true
				if err := visit(n); err != nil {
					return err
				}
			}
		}
		return nil
	case me.out:
		return nil
	case waits && w.over(m):
		n := *w
		n.members[m].over++
		if err := n.intact(m); err != nil {
			return err
		}
		return visit(n)
	case !waits && (me.over == w.shape.end(m) || h.broken):
		if err := w.intact(m); err != nil {
			return err
		}
		n := *w
		n.members[m].left = true
		n.hosts[host].knowsLeft[m] = true
		return visit(n)
	case !waits:
		n := *w
		if err := n.publish(m); err != nil {
			return err
		}
		if err := visit(n); err != nil {
			return err
		}
	}
	if why := w.hopeless(m); waits && why != nil {
		if w.shape.quits[1] < 0 && !w.shape.mayBreak && w.shape.kill == 0 {
			return fmt.Errorf("member %d gives up round %d for no reason: %w", m, me.published, why)
		}
		return w.giveUp(m, visit)
	}
	if w.breaks > 0 && !h.broken {
		n := *w
		n.breaks--
		return n.giveUp(m, visit)
	}
	return nil
}

// kill ends a member wherever it is. Nothing else of it is lost: what it has sent
// still comes.
func (w *model) kill(m int, visit func(model) error) error {
	if int(w.shape.kill)-1 != m || w.members[m].left {
		return nil
	}
	n := *w
	n.members[m].left, n.members[m].dead = true, true
	n.hosts[n.shape.hosts[m]].knowsLeft[m] = true
	return visit(n)
}

// publish also checks that the round before was still intact when its reader let
// go of it.
func (w *model) publish(m int) error {
	if err := w.intact(m); err != nil {
		return err
	}
	me, h := &w.members[m], &w.hosts[w.shape.hosts[m]]
	me.published++
	p := w.shape.parity(me.published)
	h.heads[m][p] = me.published
	copy(h.slots[m][p][:], payloadOf(m, me.published))
	return nil
}

// intact holds what a member reads of the round that is over for it, and nothing
// newer published by it, against what was published.
func (w *model) intact(m int) error {
	me, h := w.members[m], &w.hosts[w.shape.hosts[m]]
	if me.over == 0 || me.published > me.over || me.out || h.broken {
		return nil
	}
	p := w.shape.parity(me.over)
	for other := range w.shape.hosts {
		if string(h.slots[other][p][:]) != string(payloadOf(other, me.over)) || h.heads[other][p] != me.over {
			return fmt.Errorf("member %d reads % x (head %d) of member %d in round %d", m, h.slots[other][p], h.heads[other][p], other, me.over)
		}
	}
	return nil
}

func (w *model) over(m int) bool {
	h := &w.hosts[w.shape.hosts[m]]
	return h.done >= w.members[m].published
}

// locals is the last round that all members of a host have published.
func (w *model) locals(host int) int8 {
	last := w.shape.rounds
	for m, h := range w.shape.hosts {
		if h == host {
			last = min(last, w.members[m].published)
		}
	}
	return last
}

// giveUp breaks the group; the member then stays in the job, or leaves it.
func (w *model) giveUp(m int, visit func(model) error) error {
	n := *w
	host := n.shape.hosts[m]
	n.members[m].out = true
	n.breakGroup(host)
	if err := visit(n); err != nil || n.shape.stays {
		return err
	}
	n.members[m].left = true
	n.hosts[host].knowsLeft[m] = true
	return visit(n)
}

// breakGroup breaks the group on a host, which tells those near it, once.
func (w *model) breakGroup(host int) {
	h := &w.hosts[host]
	if h.broken {
		return
	}
	h.broken = true
	for other, near := range w.shape.near[host] {
		if near && w.shape.fault != silentBreak {
			h.breakSent[other] = true
		}
	}
}

var errBroken = errors.New("the group is broken")

// hopeless is why a member gives up its wait: what package group's conditions say.
func (w *model) hopeless(m int) error {
	host, round := w.shape.hosts[m], w.members[m].published
	h := &w.hosts[host]
	if h.broken {
		return errBroken
	}
	leads := m == w.shape.leaders[host]
	for other, on := range w.shape.hosts {
		if !h.knowsLeft[other] || h.heads[other][w.shape.parity(round)] >= round {
			continue
		}
		switch {
		case on == host:
			return fmt.Errorf("member %d has left", other)
		case w.shape.fault == leftIsFailed:
			return fmt.Errorf("member %d of another host has left", other)
		case w.members[other].dead:
			return fmt.Errorf("member %d of another host has failed", other)
		}
	}
	if err := w.silence(host, round); leads && err != nil {
		return err
	}
	if leader := w.shape.leaders[host]; h.knowsLeft[leader] {
		return errors.New("the leader has left")
	}
	return nil
}

// silence is why a source of a host will not tell a round.
func (w *model) silence(host int, round int8) error {
	h := &w.hosts[host]
	for i, s := range w.shape.sources[host] {
		leader := w.shape.leaders[s.Host]
		if h.sources[i].round >= round || !h.knowsLeft[leader] || w.shape.fault == deaf {
			continue
		}
		if w.members[leader].dead || w.quiet(s.Host, host) {
			return fmt.Errorf("the leader of host %d has gone, and nothing more will come", s.Host)
		}
	}
	return nil
}

// quiet tells whether all that one host has sent has arrived at another, as the
// end of its leader's connection says.
func (w *model) quiet(from, to int) bool { return w.hosts[from].sent[to] == w.hosts[to].accepted[from] }

// hostSteps: send a message, accept one, hear of a break.
func (w *model) hostSteps(from, to int, visit func(model) error) error {
	leader := w.shape.leaders[from]
	if w.maySend(from, to, leader) {
		if err := w.has(from, to); err != nil {
			return err
		}
		n := *w
		h := &n.hosts[from]
		h.begun = n.members[leader].published
		h.sent[to]++
		n.settle(from)
		if err := visit(n); err != nil {
			return err
		}
	}
	if !w.quiet(from, to) && !w.members[w.shape.leaders[to]].left {
		n := *w
		if err := n.accept(from, to); err != nil {
			return err
		}
		if err := visit(n); err != nil {
			return err
		}
	}
	if w.hosts[from].breakSent[to] {
		n := *w
		n.hosts[from].breakSent[to] = false
		if n.shape.fault == notPassedOn {
			n.hosts[to].broken = true
		} else if !n.members[n.shape.leaders[to]].left { // it hears
			n.breakGroup(to)
		}
		return visit(n)
	}
	return nil
}

func (w *model) maySend(from, to, leader int) bool {
	me, h := w.members[leader], &w.hosts[from]
	send := w.shape.to(from, to)
	if send == nil || me.left || me.out || me.published == me.over || h.broken || h.sent[to] >= me.published*w.shape.perRound(from, to) {
		return false
	}
	if w.shape.fault != hasty {
		for i := range send.After {
			if h.sources[i].round < me.published {
				return false
			}
		}
	}
	return w.locals(from) >= me.published || w.shape.fault == eagerLeader
}

// has checks that a host has what it is about to send.
func (w *model) has(from, to int) error {
	h, round := &w.hosts[from], w.members[w.shape.leaders[from]].published
	p := w.shape.parity(round)
	for m, on := range w.shape.hosts {
		behind := (on - from + len(w.shape.leaders)) % len(w.shape.leaders)
		if behind < w.shape.to(from, to).Hosts && (h.heads[m][p] != round || string(h.slots[m][p][:]) != string(payloadOf(m, round))) {
			return fmt.Errorf("host %d sends % x (head %d) as member %d's round %d", from, h.slots[m][p], h.heads[m][p], m, round)
		}
	}
	return nil
}

// settle notes a round that is over: received from all and sent to all.
func (w *model) settle(host int) {
	h := &w.hosts[host]
	over := h.received
	if w.shape.fault != unsentIsOver {
		for other := range w.shape.leaders {
			if per := w.shape.perRound(host, other); per > 0 {
				over = min(over, h.sent[other]/per)
			}
		}
	}
	h.done = max(h.done, over)
}

// accept lets the real State take the next message.
func (w *model) accept(from, to int) error {
	h := &w.hosts[to]
	k, per := h.accepted[from], w.shape.perRound(from, to)
	h.accepted[from]++
	if h.broken {
		return nil
	}
	s := w.state(to)
	msg := w.shape.messages[[3]int8{int8(from), int8(to), k/per + 1}][k%per]
	source := slices.IndexFunc(w.shape.sources[to], func(s Source) bool { return s.Host == from })
	if err := s.Accept(source, msg, uint64(h.begun), &sinkModel{w, to}); err != nil {
		return fmt.Errorf("host %d refuses what host %d sends: %w", to, from, err)
	}
	for m := range w.shape.hosts {
		h.remotes[m].round, h.remotes[m].bytes = int8(s.members[m].round), int8(s.members[m].bytes)
	}
	for i, f := range s.sources {
		h.sources[i].round, h.sources[i].entered = int8(f.round), int8(f.entered)
	}
	h.received = int8(s.received)
	w.settle(to)
	return nil
}

func (w *model) state(host int) *State {
	s := NewState(host, w.shape.hosts, w.shape.sources[host])
	h := &w.hosts[host]
	s.received = uint64(h.received)
	for m := range s.members {
		s.members[m].round, s.members[m].bytes = uint64(h.remotes[m].round), int(h.remotes[m].bytes)
		s.members[m].total, s.members[m].signature = payloadLen, 7
	}
	for i := range s.sources {
		s.sources[i].round, s.sources[i].entered = uint64(h.sources[i].round), int(h.sources[i].entered)
	}
	return s
}

type sinkModel struct {
	*model
	host int
}

func (s *sinkModel) Store(member int, round uint64, _, offset int, bytes []byte) {
	copy(s.hosts[s.host].slots[member][s.shape.parity(int8(round))][offset:], bytes)
}

func (s *sinkModel) Enter(member int, round uint64, _ uint32, _ int) {
	s.hosts[s.host].heads[member][s.shape.parity(int8(round))] = int8(round)
}

// settled is what must hold when nothing more can happen: nobody waits.
func (w *model) settled() error {
	for m := range w.shape.hosts {
		if me := w.members[m]; !me.left && !me.out {
			return fmt.Errorf("member %d waits in round %d for ever", m, me.published)
		}
	}
	return nil
}
