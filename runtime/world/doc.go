// Package world is who takes part in a job. A rank program calls [Join] and gets
// the world communicator: all ranks, numbered from 0. [Comm.Split] and [Comm.Dup]
// make further communicators (MPI-5.0 chapter 7). Windows and collectives, in
// packages window and collectives, are made on a communicator.
//
//	comm, err := world.Join(ctx)
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer comm.Leave()
//
// Started by golaunch, a process joins its job; started by itself, it is a world
// of one rank. A test makes worlds whose ranks are goroutines with
// runtime/worldtest.
//
// # Hosts
//
// Ranks of one host share memory; between hosts they talk over TCP, connecting on
// first use. [Comm.Path] tells which. A communicator's group has an area on each
// host, and the lowest member there leads it: it tells the other leaders what its
// host's members publish (runtime/group). Whatever arrives comes in through the
// rank's router (runtime/world/router), polled by whoever waits.
//
// # Failure
//
// Waiting for a rank that died, or that left, ends with a [*RankFailedError]. A
// collective operation that fails or is cancelled at any rank breaks its
// communicator for all: operations under way and later ones end with a
// [*BrokenError].
//
// # Goroutine safety
//
// All methods may be called from any goroutine. Collective operations on one
// communicator must not overlap; the second one gets an error. Use Dup to run
// collectives side by side.
//
// # Lock order
//
// segments.mu is never held together with another lock, nor while waiting for a
// peer. The arena calls Publish with its growing lock held, so hub.mu comes after
// that. A link's lock is held while a message is delivered, under the router's
// turn; nothing is waited for meanwhile.
package world
