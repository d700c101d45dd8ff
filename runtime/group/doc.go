// Package group is a communicator's, or a window's, shared memory on one host:
// each member publishes into a slot of its own and awaits those of the others.
// Barriers, small reductions and the agreements that larger operations begin with
// are all this one primitive.
//
// # Protocol and memory ordering
//
// Round s of a group: every member writes its payload into its slot of parity
// s mod 2, then stores the slot's head, s<<32|signature, atomically. Whoever has
// seen a head of round s sees that round's payload, because the store of the
// head orders the plain stores before it and the load of the head orders the
// plain loads behind it.
//
// Two parities suffice: a member overwrites its slot of round s in round s+2,
// which it enters after it has seen every member's head of round s+1, and a
// member publishes s+1 only when it no longer reads round s.
//
// The signature says what operation the member believes it takes part in, so a
// mismatch between ranks is found in the round itself and costs nothing.
//
// When the host has a core for every rank, members look at each other's heads and
// wake each other. When ranks share cores, they count arrivals in one word and
// only the last one wakes the others: n wake-ups a round instead of n squared.
//
// # Across hosts
//
// When members are on several hosts, each host has an area with slots of all
// members. Members on one host share theirs as above; the lowest of them, the
// leader, tells some leaders of other hosts what its host's members have published,
// once all of them have, and then others what it has heard: package exchange says
// whom, and in which order. What arrives is stored into the slots by whoever polls
// in the leader's process. It then stores the round in the word done, which the
// others wait for. Two parities still suffice, and hosts are never more than one
// round apart: package exchange has the proof, and tests that explore it.
//
// # Breaking
//
// A member that gives up, because its context ended or a peer failed, breaks the
// group: every member's wait, present and future, ends with a [BrokenError] that
// says who and why. The one that gives up tells the hosts near its own, and each
// host that hears of it those near it.
//
// # Goroutine safety
//
// Publish and WaitAll form a round and belong to one goroutine at a time; Break
// and Broken may be called by any.
package group
