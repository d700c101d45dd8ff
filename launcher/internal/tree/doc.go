// Package tree is the launch tree, without the network: who attaches to whom, and how
// records between the root (golaunch) and every host (a supervisor) pass over the
// hosts between them without one being lost or coming twice, whichever links and
// hosts are lost. It is pure: frames, the ends of links and the time go in, frames
// and records come out. Package relay carries it out; docs/launch-tree.md tells why
// it is as it is.
//
// # Records
//
// A record is a piece of a byte stream. Each host has one stream to the root. In the
// other direction, the root's records to all and those to one host make one stream
// for that host, in the order in which the root sent them.
//
// # Ways
//
// What a host tells of the hosts below it are facts: X's n-th attachment is to P,
// and is over or not. The highest n counts, so it does not matter how late, how often
// and on which way they come. With them every host on the way knows over which of its
// links a host is reached.
//
// A way loses nothing but at its end: frames on a link stay in order, and hosts pass
// them on in the order in which they come. So frames need no numbers downwards, and
// one frame for all is enough on each link. When a host loses its parent it says Break
// to those below, then attaches to another. From Break on nobody accepts a record, until
// the root, which learns of the new way from the facts, says Resync to each of them:
// from which record on it sends again, and which of theirs it has. Resync names the way
// that it means; the hosts on it throw it away if they have changed since, because
// what followed it may then have gone elsewhere.
//
// # Losses
//
// A link that is closed without Moving was closed by the death of a process: the host
// is lost at once. Any other host that the root has no way to is lost after its
// patience. A lost host that comes back is rejected.
//
// # Bounds
//
// Nothing is dropped for want of room, and nobody waits in here: Send keeps records
// until they are acknowledged. What bounds them is the credit of the control protocol
// (launcher/internal/control): 64 KiB of each output of each rank, 64 KiB of input, and
// some small messages a rank. Hosts in between keep nothing.
//
// Goroutine safety: none; a [Node] or [Root] belongs to one goroutine at a time.
package tree
