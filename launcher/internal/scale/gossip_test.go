package scale

import (
	"math"
	"math/rand/v2"
	"testing"
)

// News that are sent to f others a round reach all of n in about log(n)/log(f+1) rounds to
// spread and log(n)/f to find the last (Pittel 1987).
func TestGossipTakesLogarithmicRounds(t *testing.T) {
	for _, n := range []int{100, 1000, 10000, 100000} {
		s := LAN()
		got := Tell(s, n, 1)
		ln := math.Log(float64(n))
		want := ln/math.Log(float64(s.Fanout+1)) + ln/float64(s.Fanout)
		if got.Missed > 0 || got.Rounds < 0.6*want || got.Rounds > 1.3*want {
			t.Errorf("%d members: %.1f rounds, want about %.1f; %d were missed", n, got.Rounds, want, got.Missed)
		}
		if got.Half > got.Most || got.Most > got.All {
			t.Errorf("%d members: %+v", n, got)
		}
		if sends := float64(s.Sends(n)); got.Packets > sends || got.Packets < 0.9*sends {
			t.Errorf("%d members send %.1f packets each, want %.0f", n, got.Packets, sends)
		}
	}
}

func TestTwoMembers(t *testing.T) {
	if got := Tell(LAN(), 2, 1); got.Missed > 0 || got.All > LAN().Gossip {
		t.Errorf("%+v", got)
	}
}

// With few sends, one in e^k is missed.
func TestFewSendsMissSome(t *testing.T) {
	s := LAN()
	s.Retransmit = 1
	const n = 100000
	k := float64(s.Sends(n))
	got := Tell(s, n, 1)
	if want := n * math.Exp(-k); float64(got.Missed) < want/2 || float64(got.Missed) > 2*want {
		t.Errorf("%d are missed, want about %.0f", got.Missed, want)
	}
}

func TestGossipIsDeterministic(t *testing.T) {
	if a, b := Tell(LAN(), 1000, 7), Tell(LAN(), 1000, 7); a != b {
		t.Errorf("%+v and %+v", a, b)
	}
	if a, b := Tell(LAN(), 1000, 7), Tell(LAN(), 1000, 8); a == b {
		t.Errorf("two seeds, and both times %+v", a)
	}
}

func TestSettingsAreMemberlists(t *testing.T) {
	s := LAN()
	if least, most := s.Suspicion(5); least != 4*Second || most != 24*Second {
		t.Errorf("5 members are suspected for %d to %d", least, most)
	}
	if least, _ := s.Suspicion(100000); least != 20*Second {
		t.Errorf("100000 members are suspected for %d", least)
	}
	if s.ExchangeEvery(32) != 30*Second || s.ExchangeEvery(33) != 60*Second || s.ExchangeEvery(100000) != 390*Second {
		t.Errorf("exchanges are %d, %d, %d apart", s.ExchangeEvery(32), s.ExchangeEvery(33), s.ExchangeEvery(100000))
	}
	if s.Sends(5) != 6 || s.Sends(200) != 18 || s.Sends(100000) != 36 {
		t.Errorf("news are sent %d, %d, %d times", s.Sends(5), s.Sends(200), s.Sends(100000))
	}
	if s.Agreeing(3) != 0 || s.Agreeing(4) != 2 {
		t.Errorf("%d and %d must agree", s.Agreeing(3), s.Agreeing(4))
	}
}

// One member in n-1 probes the dead one first after a mean of 1/n of the round.
func TestProbes(t *testing.T) {
	s, r := LAN(), rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{2, 5, 1000} {
		var sum Instant
		const tries = 20000
		for range tries {
			p := probes(s, n, r)
			for i := 1; i < len(p); i++ {
				if p[i] < p[i-1] || p[i] > Instant(n)*s.Probe {
					t.Fatalf("%d members: %v", n, p)
				}
			}
			sum += p[0]
		}
		want := float64(n-1)/float64(n) + 1
		if got := (sum / tries).Seconds(); math.Abs(got-want) > 0.03 {
			t.Errorf("%d members: the first suspects after %.3f s, want %.3f", n, got, want)
		}
	}
}

// Who is silent for less than the least suspicion is never taken for dead.
func TestMistaken(t *testing.T) {
	s := LAN()
	spread := Tell(s, 200, 1)
	least, most := s.Suspicion(200)
	if got := Mistaken(s, 200, least, spread, 1); got != 0 {
		t.Errorf("after %v s %v are", least.Seconds(), got)
	}
	if got := Mistaken(s, 200, most+200*Second, spread, 1); got != 1 {
		t.Errorf("after %v s %v are", most.Seconds()+200, got)
	}
}

// 1,000 members send 6*4 packets of news of each of 1,000, 7 in a packet, 15 packets a second.
func TestAllStartAtOnce(t *testing.T) {
	c := &Costs{StateBytes: Cost{200, "B", "-"}}
	if got, want := Boot(LAN(), 1000, c).Seconds(), 24*1000/7.0/15; math.Abs(got-want) > 0.01 {
		t.Errorf("it takes %.2f s, want %.2f", got, want)
	}
}
