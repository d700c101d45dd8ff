package scale

import "math"

// Settings are those of a gossip profile (launcher/internal/member, which sets
// memberlist).
type Settings struct {
	Name       string
	Gossip     Instant // between two rounds of news
	Fanout     int     // to how many they go in a round
	Probe      Instant // between two probes
	Patience   int     // memberlist's SuspicionMult
	Most       int     // memberlist's SuspicionMaxTimeoutMult
	Retransmit int     // memberlist's RetransmitMult
	Exchange   Instant // between two exchanges of everything, up to 32 members
}

// LAN, Local and WAN are the profiles of package member.
func LAN() Settings {
	return Settings{"lan", 200 * Millisecond, 3, Second, 4, 6, 6, 30 * Second}
}

// Local is described at LAN.
func Local() Settings {
	return Settings{"local", 100 * Millisecond, 3, Second / 2, 3, 6, 6, 15 * Second}
}

// WAN is described at LAN.
func WAN() Settings {
	return Settings{"wan", 500 * Millisecond, 4, 5 * Second, 6, 6, 6, 60 * Second}
}

// Sends is how many packets a member sends of each news: memberlist's retransmitLimit.
func (s Settings) Sends(members int) int {
	return s.Retransmit * int(math.Ceil(math.Log10(float64(members+1))))
}

// Suspicion is how long a member is suspected before it is dead, when others agree and
// when nobody does: memberlist's suspicionTimeout.
func (s Settings) Suspicion(members int) (least, most Instant) {
	scale := max(1, math.Log10(max(1, float64(members))))
	least = Instant(float64(s.Patience) * scale * float64(s.Probe))
	return least, least * Instant(s.Most)
}

// Agreeing is how many others must agree for the least: memberlist's suspectNode.
func (s Settings) Agreeing(members int) int {
	k := s.Patience - 2
	if members-2 < k {
		return 0
	}
	return k
}

// ExchangeEvery is the time between two exchanges of everything that a member starts:
// memberlist's pushPullScale.
func (s Settings) ExchangeEvery(members int) Instant {
	const threshold = 32
	if members <= threshold {
		return s.Exchange
	}
	return Instant(math.Ceil(math.Log2(float64(members))-math.Log2(threshold))+1) * s.Exchange
}
