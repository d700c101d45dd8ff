package scale

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A Spread is when members know something, after the first did.
type Spread struct {
	Half, Most, All Instant // 50 %, 99 % and all of those that gossip reached
	Missed          int     // who learns it from an exchange of everything only
	Packets         float64 // sent by each member
	Rounds          float64 // of gossip until all knew
}

// Tell has one member tell news to all: each sends it on to Fanout others at random in each
// of its rounds, Sends packets in all. Probes and exchanges, which carry news, too, are
// left out.
func Tell(s Settings, members int, seed uint64) Spread {
	r := rand.New(rand.NewPCG(seed, uint64(members)))
	var rounds Queue[int32]
	left := make([]int16, members) // packets; 0 before it knows and when it is done
	known := make([]Instant, 0, members)
	heard := make([]bool, members)
	hear := func(m int32, at Instant) {
		heard[m], left[m] = true, int16(s.Sends(members))
		known = append(known, at)
		rounds.Add(at+Instant(r.Int64N(int64(s.Gossip))), m)
	}
	hear(0, 0)
	sent := 0
	for {
		at, m, ok := rounds.Next()
		if !ok {
			break
		}
		for range min(s.Fanout, members-1) {
			if left[m] == 0 {
				break
			}
			left[m]--
			sent++
			if to := other(r, members, m); !heard[to] {
				hear(to, at)
			}
		}
		if left[m] > 0 {
			rounds.Add(at+s.Gossip, m)
		}
	}
	return spreadOf(s, known, members, sent)
}

// other is any member but one.
func other(r *rand.Rand, members int, m int32) int32 {
	to := int32(r.IntN(members - 1))
	if to >= m {
		to++
	}
	return to
}

func spreadOf(s Settings, known []Instant, members, sent int) Spread {
	slices.Sort(known)
	at := func(part float64) Instant { return known[min(int(part*float64(len(known))), len(known)-1)] }
	last := known[len(known)-1]
	return Spread{
		Half: at(0.5), Most: at(0.99), All: last, Missed: members - len(known),
		Packets: float64(sent) / float64(members), Rounds: float64(last) / float64(s.Gossip),
	}
}

// Detect is how long after a member's death the first other member says that it is dead.
// told is how long news take to reach those who suspect it, too.
//
// Every member probes all others in turn, so each probes the dead one at some time in its
// round of members-1 probes; a probe fails at the end of its interval. Who fails suspects;
// those who fail later agree.
func Detect(s Settings, members int, told Instant, r *rand.Rand) Instant {
	suspects := probes(s, members, r)
	k := min(s.Agreeing(members), len(suspects)-1)
	least, most := s.Suspicion(members)
	if k <= 0 {
		return suspects[0] + least
	}
	end := suspects[0] + most
	for agreeing := 1; agreeing <= k; agreeing++ {
		heard := suspects[agreeing] + told
		if heard >= end {
			return end
		}
		part := math.Log(float64(agreeing)+1) / math.Log(float64(s.Agreeing(members))+1)
		end = max(heard, suspects[0]+max(least, most-Instant(part*float64(most-least))))
	}
	return end
}

// probes are when the first few probes of a dead member have failed: those at or before the
// others among members-1 times at random in a round.
func probes(s Settings, members int, r *rand.Rand) []Instant {
	const enough = 8
	round := float64(members-1) * float64(s.Probe)
	var failed []Instant
	left, at := members-1, 0.0 // the least of left uniform ones in the rest
	for ; left > 0 && len(failed) < enough; left-- {
		at += (1 - at) * (1 - math.Pow(1-r.Float64(), 1/float64(left)))
		failed = append(failed, Instant(at*round)+s.Probe)
	}
	return failed
}

// A Death is when members know of one.
type Death struct{ First, Half, Most, All Instant }

// Die is the mean of many deaths.
func Die(s Settings, members int, spread Spread, seed uint64) (d Death) {
	const deaths = 400
	r := rand.New(rand.NewPCG(seed, uint64(members)))
	for range deaths {
		d.First += Detect(s, members, spread.Most, r) / deaths
	}
	d.Half, d.Most, d.All = d.First+spread.Half, d.First+spread.Most, d.First+spread.All
	return d
}

// Mistaken is the part of members that are taken for dead when they do nothing for so long,
// and then go on: those whose death is told before they can deny it.
func Mistaken(s Settings, members int, silent Instant, spread Spread, seed uint64) float64 {
	const tries = 2000
	r := rand.New(rand.NewPCG(seed, uint64(members)))
	dead := 0
	for range tries {
		if Detect(s, members, spread.Most, r) < silent+spread.Half {
			dead++
		}
	}
	return float64(dead) / tries
}

// Boot is how long members that all start at once send news of each other: everybody sends
// news of everybody, in packets that are full. All know all before that, at most then.
func Boot(s Settings, members int, c *Costs) Instant {
	const packet = 1400 // bytes: memberlist's UDPBufferSize
	rounds := float64(members*s.Sends(members)) * c.StateBytes.Value / float64(packet*s.Fanout)
	return Instant(rounds * float64(s.Gossip))
}

// Idle is what a member sends in bytes a second when nothing happens: probes, and its part
// in exchanges, one that it starts and one that another does.
func Idle(s Settings, members int, c *Costs) (probes, exchanges float64) {
	every := s.ExchangeEvery(members).Seconds()
	return c.PingBytes.Value / s.Probe.Seconds(), 2 * float64(members) * c.StateBytes.Value / every
}

// IdleCPU is the part of a core that it uses for that.
func IdleCPU(s Settings, members int, c *Costs) float64 {
	every := s.ExchangeEvery(members).Seconds()
	exchange := c.Exchange.time() + c.ExchangeEntry.times(float64(members))
	return 2*c.PacketCPU.time().Seconds()/s.Probe.Seconds() + exchange.Seconds()/every
}
