// Package lifecycle decides what becomes of a job: which rank has started,
// joined, left or failed, when the others are to be stopped and how, and with
// which code golaunch exits. It is pure: events and the time go in, actions come
// out, and it imports nothing. The front of golaunch carries the actions out.
//
// # Phases
//
//	preparing  nothing has been started
//	running    ranks run
//	winding    a signal to golaunch was forwarded; each rank ends in its own way,
//	           and for Grace a failure does not stop the others
//	stopping   the job has failed: SIGTERM was sent, SIGKILL follows after StopWait
//	killing    SIGKILL was sent to everything
//	finishing  no rank is left; the supervisors clear up behind the ranks
//	over
//
// Of the forwarded signals, SIGHUP has an end: HangupWait after it, what is left in
// running or winding is killed.
//
// preparing leads to running or finishing; running to winding, stopping,
// killing or finishing; winding back to running or on like running; the others
// only downwards.
//
// # Hosts
//
// Every host has a supervisor. A supervisor that is lost takes its ranks with it:
// with AbortOnFailure that ends the job, with ContinueOnFailure the others go on.
// The job is over when every supervisor is done or lost.
//
// Goroutine safety: none; a [Job] belongs to one goroutine.
package lifecycle
