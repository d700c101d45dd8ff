package job

import (
	"fmt"
	"math"
	"syscall"
)

// State says how far a rank has come. It only grows.
type State uint32

const (
	Starting State = iota // spawned, not joined
	Joined                // said hello to its supervisor
	Left                  // said goodbye
	Exited                // ended with code 0 without goodbye, or without ever joining
	Failed                // ended with another code or by a signal, or lost its connection
)

// Over reports whether nothing more is to be expected of a rank in state s.
func (s State) Over() bool { return s >= Left }

func (s State) String() string {
	names := [...]string{"starting", "joined", "left", "exited", "failed"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("state %d", uint32(s))
}

// CodeHostLost, as the code of a Failed rank, says that its host was lost with
// it: nobody knows what became of the rank itself.
const CodeHostLost int32 = math.MinInt32

// CodeNotStarted, as the code of a Failed rank, says that its process could not be
// started.
const CodeNotStarted = CodeHostLost + 1

// Describe says in words what became of a rank: code is its exit code, minus the
// number of the signal that ended it, CodeHostLost or CodeNotStarted.
func Describe(s State, code int32) string {
	switch {
	case s == Left:
		return "it has left the job"
	case s == Exited:
		return "it exited without leaving the job"
	case s == Failed && code == CodeHostLost:
		return "its host was lost"
	case s == Failed && code == CodeNotStarted:
		return "it could not be started"
	case s == Failed && code < 0:
		return fmt.Sprintf("killed by signal %d (%v)", -code, syscall.Signal(-code))
	case s == Failed && code > 0:
		return fmt.Sprintf("exited with code %d", code)
	case s == Failed:
		return "its connection to the supervisor was lost"
	}
	return s.String()
}

// A RankFailedError reports that a rank which others waited for can no longer
// take part: it died, was lost with its host, or left the job.
type RankFailedError struct {
	Rank  int    // in the world communicator
	Host  string // "" on the reader's own host
	Cause string
}

func (e *RankFailedError) Error() string {
	if e.Host == "" {
		return fmt.Sprintf("rank %d failed: %s", e.Rank, e.Cause)
	}
	return fmt.Sprintf("rank %d (%s) failed: %s", e.Rank, e.Host, e.Cause)
}
