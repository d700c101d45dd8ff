// Package proc starts processes and makes sure that neither they nor any of
// their descendants outlive their starter.
//
// A process that wants to know all its descendants must be a child subreaper:
// whatever a rank's descendants do (setsid, double fork, daemon), when their
// parent dies they become children of the nearest living subreaper above them, so
// they stay in its tree, and wait(2) fails with ECHILD exactly when the tree is
// empty. [Children] is that role. It reaps everything, adopted orphans included,
// in one place, and must be the only one in the process that waits for children:
// os/exec cannot be used beside it.
//
// Threads: PR_SET_PDEATHSIG follows the thread that forked, so one locked thread
// starts every process and lives as long as this process does.
//
// Lock order: Children.mu is the only lock. It is held while a process is started
// (a child that ends at once must not be reaped before it is known) and while one
// is reaped (a process id must not be signalled after it may mean another
// process). The callbacks of Start are called without it.
//
// Goroutine safety: every method may be called from any goroutine.
package proc
