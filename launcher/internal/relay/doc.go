// Package relay carries out the launch tree (package tree): a [Root] at the front of a
// job, and a [Node] at each host's supervisor, over connections on which both ends
// have proved the job's key (package join).
//
// # Links
//
// A [Node] has one link to its parent, and lets others attach to it. On each link
// both ends send a Beat now and then, and one that hears nothing for half of the
// failure timeout gives the link up. The host then has the other half to find another
// parent. Each link has two goroutines: one reads, one writes everything that is
// queued in one go, so that what comes from many children together leaves together.
//
// # Room
//
// A host in between that cannot get rid of what comes from below reads no more of it
// until its queue is shorter than linkRoom. Downwards one child with a full queue
// holds up the others, but for half of the failure timeout at most: then its link is
// given up, and it attaches elsewhere. The root never waits: what it queues is bounded
// by the control protocol's credit.
//
// Lock order: the mutex of a Root or Node, then that of a link. Neither is held over
// a system call.
//
// Goroutine safety: every method of Root, Host and Node may be called from any
// goroutine, but Read from one at a time.
package relay
