// Package member is the gossip between the hosts of a cluster: who is there, at which
// address, and what each says of itself. It is hashicorp/memberlist, of which nothing
// shows outside, with a transport and a memory of its own.
//
// What is believed of members is decided by package roster, from what memberlist tells;
// this package carries out what it asks for. memberlist's suspicions are its own affair:
// a member is alive until the gossip has confirmed that it is dead.
//
// # Keys
//
// Packets are encrypted (AES-256-GCM) with a key that is derived from the cluster's,
// streams are TLS on which both ends have proved a key of theirs. Every key of the ring
// is accepted; the one that encrypts is the first that every living member says it
// knows, so that key files may be changed one by one, in any order, and everybody
// changes over when the last has the new key. A key that is in no file any more is
// worth nothing. Without a key only loopback may be bound.
//
// # Goroutines and locks
//
// memberlist calls the delegate with its own locks held: there, events are put in a
// queue and nothing else happens. One goroutine takes them out, and owns what follows.
// Lock order: Cluster.changing, then memberlist's, then any of the others, which are
// never held while something is called that takes another.
//
// All methods of [Cluster] may be called from any goroutine.
package member
