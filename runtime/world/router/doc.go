// Package router is a rank's one way in for whatever its transports bring: it
// polls every endpoint the rank has and takes each message to its port and each
// completion to the operation it belongs to.
//
// # Who polls
//
// Anybody who wants progress calls [Router.Poll]: goroutines that wait, between
// two looks at what they wait for; an endpoint's own goroutine, when it has left
// something for nobody in particular; a call that is blocked for credit. One of
// them at a time polls. Whoever comes second goes on with what it was doing, and
// the first one polls once more for it, so nothing that arrived before a call of
// Poll is left lying when the last of the polling calls has returned.
//
// Handlers of ports run where the message was seen, inside Poll. They do not
// block, wait or Send; they store, and Post. Nobody holds a lock that Poll or a
// handler needs while it waits, so two ranks that send to each other at once get
// through, each polling while it is blocked.
//
// # Failure
//
// A rank from which nothing more will come, by word of its transport, is gone:
// Failure says so, beside what the job says of it.
//
// # Lock order
//
// turn, then peer.mu, then operations.mu. turn is only tried, but by Port.Close and
// Close.
package router
