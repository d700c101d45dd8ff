package transporttest

import (
	"testing"

	"github.com/golaunch/golaunch/transport"
)

var failureChecks = []check{
	{"the peer's failure ends a blocked Send with ErrPeerFailed", 2, failureEndsBlockedSend},
	{"the failure of one peer leaves the others alone", 3, failureLeavesOthers},
	{"a Send that waits for another peer does not see the failure", 3, failureOfAnotherIsNotSeen},
}

func failureEndsBlockedSend(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	nodes[0].job.Fail(1)
	wants(t, transport.ErrPeerFailed, outcome(t, nodes[0].ctx, result), "blocked Send")
}

func failureLeavesOthers(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	nodes[0].job.Fail(1)
	wants(t, transport.ErrPeerFailed, outcome(t, nodes[0].ctx, result), "blocked Send")
	start(nodes[0], nodes[2])
	s, err := nodes[2].share(4096)
	ok(t, err)
	ok(t, putGetCompare(nodes[0], s, 0, pattern(1, 4096)))
	ok(t, nodes[0].send(2, "we go on"))
	_, err = nodes[2].receive()
	ok(t, err)
}

func failureOfAnotherIsNotSeen(t *testing.T, nodes []*node) {
	result := blockedSend(t, nodes)
	nodes[0].job.Fail(2)
	ok(t, countMessages(nodes[1], manyMessages))
	ok(t, outcome(t, nodes[0].ctx, result))
}
