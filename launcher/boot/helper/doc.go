// Package helper is the process that plays the supervisor on a host where a process
// manager, and not golaunch, has started the ranks. It makes the job's memory,
// answers the ranks (launcher/internal/desk), and writes into the memory what
// becomes of them. It starts nothing, kills nothing, and decides nothing: that is
// the process manager's.
//
// It is a process of its own because it must serve until the last rank of the host
// has left, whichever that is and however the others end. The first rank starts it
// as a second instance of its own program, which is caught before main: that is why
// this package has an init function, and ends the process, as no other does. It is
// in a session of its own, ignores the signals that are meant for the ranks, and
// holds none of the descriptors that the process manager has left in the ranks. It
// ends when every rank of the host has joined and is gone, or when the process that
// has started it is gone and nobody is there.
//
//	first rank            helper                          other ranks
//	Start: job (JSON)  ->
//	                   <- listening
//	Dial: hello        ->                              <- Dial: hello
//	                   <- welcome, as from a supervisor ->
//	Release            ->  need not wait for ranks that have not joined
//
// Ranks find it by a name in the abstract namespace of Unix sockets, derived from
// the job's secret. Both ends see by SO_PEERCRED that the other is of the same user,
// and a hello carries a proof made from the secret.
//
// Lock order: helper.mu, then a lock of desk.Desk or job.Memory.
package helper
