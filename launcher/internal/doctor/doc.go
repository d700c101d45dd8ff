// Package doctor looks for what keeps a host from being a good member of a cluster: its
// key, ports, directories and limits, its agent, and whether the other members are
// reached, run the same version, and have the same time. Every finding that is not good
// says what to change.
//
// It changes nothing. What needs an agent is asked of a [Cluster], which may be nil: the
// rest is examined all the same.
//
// Goroutine safety: [Examine] shares nothing between calls.
package doctor
