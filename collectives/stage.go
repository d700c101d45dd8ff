package collectives

import (
	"context"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
)

// A stage is memory of a rank's arena through which the ranks of a host exchange
// vectors that lie elsewhere, block by block. A rank stores into its own only, and
// reads everybody's.
//
// A block has a part for each rank. For each of the blocks under way, a stage has
// room for the whole block of the rank's input, and for its part of the result.
type stage struct {
	mine []byte
	part int      // room of a part, in bytes
	all  [][]byte // by member: everybody's, this one's too
}

const (
	// depth is how many blocks are under way; allreduceStaged has the reason.
	depth = 3

	// A part is of longestPart, and shorter, down to shortestPart, where the stages of a
	// host would be longer than stagesBytes together: they should stay in a cache. Short
	// parts cost more rounds. Measured with 2 to 32 ranks.
	longestPart  = 128 << 10
	shortestPart = 16 << 10
	stagesBytes  = 8 << 20

	// mostStages is what the stages of a host may take in all: they grow with the square
	// of the number of ranks.
	mostStages = 64 << 20
)

// partRoom is the room of a part in the stages of so many ranks, 0 if they are too many
// for stages.
func partRoom(size int) int {
	if size*stageSize(size, shortestPart) > mostStages {
		return 0
	}
	part := longestPart
	for part > shortestPart && size*stageSize(size, part) > stagesBytes {
		part /= 2
	}
	return part
}

func stageSize(size, part int) int { return depth * (size + 1) * part }

// whole is the length of a block.
func (s *stage) whole() int { return s.part * len(s.all) }

// input is a member's input to a part of a block, and result is the part of the
// result that the member has made.
func (s *stage) input(member, block, part int) []byte {
	return s.at(member, block%depth*(len(s.all)+1)+part)
}

func (s *stage) result(member, block int) []byte {
	return s.at(member, block%depth*(len(s.all)+1)+len(s.all))
}

func (s *stage) at(member, room int) []byte { return s.all[member][room*s.part:][:s.part:s.part] }

// setUp makes the ranks' stages, unless they are there, in a round of its own.
func (e *engine) setUp(ctx context.Context, c *call) error {
	if e.stage != nil {
		return nil
	}
	s := &stage{part: e.part, all: make([][]byte, e.size)}
	var err error
	if s.mine, err = arena.Alloc[byte](e.arena, stageSize(e.size, s.part)); err != nil {
		return err
	}
	if err := e.findStages(ctx, c, s); err != nil { // the others may have found this one
		return err
	}
	e.stage = s
	return nil
}

// findStages tells the others where this rank's stage is, and maps theirs.
func (e *engine) findStages(ctx context.Context, c *call, s *stage) error {
	mine := offer{bytes: c.bytes, root: c.root}
	if mine.in, mine.hasIn = e.inside.Locate(s.mine); !mine.hasIn {
		return errors.New("a stage outside the arena")
	}
	if err := e.exchangeOffers(ctx, c, c.opening()|sigStage, &mine); err != nil {
		return err
	}
	for member := range s.all {
		var err error
		if s.all[member], err = e.inside.At(member, e.offers[member].in, len(s.mine)); err != nil {
			return fmt.Errorf("stage of rank %d: %w", member, err)
		}
	}
	return nil
}

// free gives the stage up. Nobody reads it any more.
func (s *stage) free(a *arena.Arena) error {
	if s == nil {
		return nil
	}
	return arena.Free(a, s.mine)
}
