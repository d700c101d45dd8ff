// Package slots keeps the slots of a host, and claims slots of several: two pure
// state machines. They do no I/O and have no clock; what they decide is carried out
// by launcher/internal/agent.
//
// A [Table] is one host's. A reservation holds slots until its time, which can be
// renewed, is over, or until
// the job whose it is starts; from then on the job holds them until it ends. A
// reservation that does not fit is refused as a whole.
//
//	Reserve            Start             End
//	─────────> reserved ──────> running ─────>
//	               │ Release, or its time is over
//	               ▼
//
// A [Claim] reserves a launch's slots on all of its hosts, or on none. Its messages
// may be lost: where the answer is not known, it releases, and where that is lost,
// too, the reservation's time ends it.
package slots
