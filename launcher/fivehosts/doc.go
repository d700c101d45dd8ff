// Package fivehosts has no code, only tests: of clusters of five hosts, each of which
// is a network namespace (launcher/internal/netns) with a golaunch agent and
// directories of its own. Nothing is prepared on them but that agent: jobs are
// launched, lose ranks, hosts, agents and terminals, and end, and nothing is left.
//
// They take root and the go command, and are skipped without. Times that were
// promised are logged beside their bounds; on a machine that does nothing else,
// GOLAUNCH_FIGURES=1 holds the tests to the bounds themselves instead of to ten times as
// much.
package fivehosts
