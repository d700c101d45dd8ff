package group

import (
	"slices"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/group/exchange"
)

// A send is one of the messages that a leader sends in a round.
type send struct {
	leaders []int // that get the same
	members []int // whose parts it has
	after   int   // how many sources it waits for, the first ones
}

// A source is a host that tells this one what its members have published, and those
// of hosts behind it.
type source struct {
	leader  int
	rank    int           // the leader's
	awaited bool          // a send waits for it
	told    atomic.Uint64 // the last round
}

// takePlaces has the hosts take places in a circle, in the order of their leaders,
// and makes what this member must know of them.
func (a *across) takePlaces() {
	leaders, places := circle(a.hosts)
	own := places[a.me]
	a.leader = leaders[own]
	order, upTo := inTurn(own, places, len(leaders))
	a.locals = order[:upTo[1]]
	sends, sources := exchange.Route(own, len(leaders), exchange.Radix)
	for _, s := range sends {
		to := send{members: order[:upTo[s.Hosts]], after: s.After}
		for _, place := range s.To {
			to.leaders = append(to.leaders, leaders[place])
		}
		a.sends = append(a.sends, to)
		a.near = append(a.near, to.leaders...)
	}
	a.sources = make([]source, len(sources))
	for i, s := range sources {
		leader := leaders[s.Host]
		a.sources[i].leader, a.sources[i].rank = leader, a.ranks[leader]
		a.sources[i].awaited = i < a.sends[len(a.sends)-1].after
		if !slices.Contains(a.near, leader) {
			a.near = append(a.near, leader)
		}
	}
	if a.leads() {
		a.state = exchange.NewState(own, places, sources)
		a.out = make([]byte, MaxLink)
	}
}

// circle gives each host a place: leaders are the first members of each, places the
// place of each member.
func circle(hosts []int) (leaders, places []int) {
	placeOf := map[int]int{}
	for member, host := range hosts {
		place, known := placeOf[host]
		if !known {
			place = len(leaders)
			placeOf[host] = place
			leaders = append(leaders, member)
		}
		places = append(places, place)
	}
	return leaders, places
}

// inTurn orders the members by how far their hosts' places are behind one, in a
// circle of n. upTo[h] is how many are on the first h hosts.
func inTurn(from int, places []int, n int) (order, upTo []int) {
	at := make([][]int, n)
	for member, place := range places {
		at[place] = append(at[place], member)
	}
	upTo = []int{0}
	for i := range n {
		order = append(order, at[(from+i)%n]...)
		upTo = append(upTo, len(order))
	}
	return order, upTo
}
