// Package crosshost has no code, only tests: of jobs on several hosts, each of
// which is a network namespace (launcher/internal/netns) with a supervisor of its
// own that joins over the network. The tests build golaunch, the apps and the
// test binaries of the runtime's rooms, and run them there; what they show is that
// the house stands when nothing is shared but a network, and what becomes of a job
// when that fails.
//
// They take root and the go command, and are skipped without.
package crosshost
