// Package exchange is how the hosts of a group tell each other what their members
// published: the messages, and what a host makes of those that arrive. It is
// pure: no clock, no lock, no transport, and is explored exhaustively.
//
// # Protocol
//
// Every host has a copy of all members' slots. One member of each host, the
// leader, waits until all members of its host have published round s, and sends
// their signatures and payloads to the leaders of a few other hosts, in as many
// messages as it takes. Then, step by step, it sends what it has heard, with its
// own, to leaders farther away: [Route] says whom, and what must have come before.
// With n hosts each sends some 3 log4(n) times, and no host hears from, or is
// connected to, more than so many.
//
// An arriving part is stored into the slot of its member at once; the member has
// entered the round with the last part of its payload. A round is over on a host when
// every member has entered it there and the host has sent all that it has to send.
//
// Messages from one host arrive in the order in which they were sent; those of
// different hosts in any order.
//
// # Why two slots suffice
//
// A round's slot is the one of its parity. Let a part of B's round s+2 arrive at A,
// by whichever way. B has sent it, so all its members have published s+2, so round
// s+1 was over on B, so A's members were received there for s+1, so A had sent s+1, so
// all of A's members had published s+1, and a member publishes s+1 only when it no
// longer reads round s; A's leader sends s+1 only when it has passed on all of s.
// Hence nobody on A reads round s any more when a part of round s+2 is stored over it.
// The same steps bound how far hosts can be apart: before A has sent round s, nothing
// past round s+1 can come. Accept refuses what breaks these rules, so a wrong peer
// cannot overwrite what is being read.
package exchange
