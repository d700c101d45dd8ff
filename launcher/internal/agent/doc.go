// Package agent is the daemon that stands for a host in a cluster: it answers what
// launcher/internal/api asks. It holds the slots of its host, starts a supervisor for
// each job that has ranks there, knows the jobs whose golaunch runs there, and places
// ranks over the hosts of the cluster, whose agents it asks what they have.
//
// An agent's death touches nothing. A job's supervisor is a process of its own, in a
// session of its own, and the job's golaunch owns it, not the agent. For each, the
// state directory has a file that says what it is (running/JOB), and the process holds
// that file's lock (flock) as long as it lives. An agent that starts finds the jobs by
// the locks that are held, and counts their slots again. Reservations are in memory
// only: a launch whose agent dies between reserving and starting begins again, or
// fails.
//
//	state/running/JOB       a supervisor's record, locked by it
//	state/running/JOB.err   what it says
//	state/jobs/JOB/output   a detached job's output, locked by its golaunch
//	runtime/agent.sock      the Unix socket
//	runtime/agent.lock      held by the agent: there is one for each runtime directory
//
// Lock order: Agent.mu is held over no call that may wait, and no other lock is taken
// with it.
//
// Goroutines: one for each connection (net/http), and one for each job that runs
// here, which waits for its end. Nothing ticks while nobody asks.
package agent
