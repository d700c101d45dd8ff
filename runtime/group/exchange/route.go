package exchange

// Radix is how many times as many hosts' parts a host has after each step of a
// round. Up to so many hosts tell each other directly; of a thousand each sends 15
// messages in 5 steps. (On one machine that plays them all 2 is a little cheaper, 8
// dearer; between machines each step costs a latency, and 2 has twice as many.)
const Radix = 4

// A Send is one of the messages that a host sends in a round.
type Send struct {
	To    []int // hosts that get the same
	Hosts int   // it speaks for so many hosts: the sender and those behind it
	After int   // it waits until so many of its sources, the first ones, have been heard
}

// A Source is a host from which another one hears, once in every round.
type Source struct {
	Host  int
	Hosts int // it speaks for so many: itself and those behind it
}

// Route says what one of hosts hosts does in a round: what it sends, in that order,
// and whom it hears from, the nearest first. Hosts stand in a circle; the one behind
// the last is the first.
//
// It is the allgather of Bruck et al., Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997, with
// radix-1 ports: behind step t a host has the parts of the radix^t hosts from itself
// on, and sends them to the hosts that stand 1, 2, ... times as many places before
// it. What a host says reaches the others along a tree whose root it is.
func Route(host, hosts, radix int) (sends []Send, sources []Source) {
	for have := 1; have < hosts; have *= radix {
		whole := Send{Hosts: have, After: len(sources)}
		var rest Send
		for far := have; far < min(have*radix, hosts); far += have {
			sources = append(sources, Source{(host + far) % hosts, min(have, hosts-far)})
			to := (host - far + hosts) % hosts
			if have <= hosts-far {
				whole.To = append(whole.To, to)
			} else {
				rest = Send{To: []int{to}, Hosts: hosts - far, After: whole.After}
			}
		}
		for _, s := range []Send{whole, rest} {
			if s.To != nil {
				sends = append(sends, s)
			}
		}
	}
	return sends, sources
}
