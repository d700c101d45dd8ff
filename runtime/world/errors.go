package world

import (
	"errors"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// A RankFailedError reports that a rank which others waited for died, was lost
// with its host, or left the job.
type RankFailedError = job.RankFailedError

// A BrokenError reports that a communicator or window can no longer be used,
// because a collective operation on it failed or was cancelled at some rank.
type BrokenError = group.BrokenError

var (
	errLeft     = errors.New("this rank has left it")
	errNotArena = errors.New("the memory is not the arena's")
)
