// Package launcher starts a job's ranks and sees it through: it carries their
// output and input, forwards signals, decides what a failure means, and reports.
// The command golaunch is a thin layer of flags above it; docs/launching.md is the
// manual.
//
// [Run] is the front, which owns the terminal. It starts a second process, the
// supervisor ([Supervise]), which owns the ranks. There are two because a rank's
// descendants can be found only by a living ancestor (internal/proc): when either
// of the two is killed, the other one clears up. They share nothing but a stream
// of messages.
//
// A job may have several hosts, each with a supervisor: those that this machine
// plays are started by the front, others join over a network ([RunSupervise], which
// is the living ancestor there).
//
//	internal/control     that stream
//	internal/supervisor  the supervisor
//	internal/join        that stream over a network
//	internal/lifecycle   PURE: what becomes of the job
//	internal/lines       whose line is next on the terminal; no I/O, no clock
//	internal/proc        starting, reaping and killing processes
//	internal/cores       how many cores there are, and which
//	boot                 the rank's side
//
// Goroutines: one event loop owns all of the front's state. Others read the
// supervisors' messages, read stdin, and write to stdout, stderr and files; they
// talk to the loop through channels and never wait for one another. There are no
// locks in this package but the one in writer.
package launcher
