// Package memlimit tells how much more memory this process may fill before the
// kernel kills somebody for it: the least of the host's MemAvailable and of
// what every cgroup above the process has left.
//
// A memfd of 1 TiB maps happily on a host of 24 GiB and meets the OOM killer
// page by page. Whoever is about to populate memory asks here first and turns
// the answer into an error that names the limit ([Limit.Admit]).
//
// The answer is a snapshot. Processes that populate at the same time must add
// up what they ask for; runtime/job's Reserve does that for the ranks of a host.
//
// Goroutine safety: everything may be called from any goroutine; the package
// has no state.
package memlimit
