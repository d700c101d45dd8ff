// Package scale predicts how launches and gossip behave with up to 100,000 hosts and
// 1,000,000 ranks, from what single steps cost. It is pure: costs and numbers in,
// times, CPU time and bytes out; the same seed gives the same answer.
//
// The costs are measured (testdata/costs.json says how); the benchmarks of this
// package's tests are the instruments. Command page writes what comes out into
// docs/scale.md, beside measurements.
//
//	queue.go     events, in the order of their times
//	server.go    what takes work one piece after the other
//	launch.go    a launch: agents, supervisors, the launch tree, ranks
//	gossip.go    how news spread among members, and how a death is found out
//	settings.go  what members do how often: memberlist's formulas
//	limits.go    what runs out
//
// Goroutine safety: none is needed; nothing is shared.
package scale
