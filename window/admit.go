package window

import (
	"context"
	"fmt"
	"math"

	"github.com/golaunch/golaunch/runtime/memlimit"
)

// admitFrom is from how many bytes on, of all ranks together, Allocate asks for the
// memory that is left before any rank fills some. Less than that the arena's own question,
// rank by rank, settles in no time.
const admitFrom = 64 << 20

// bytes is how much memory of the arena a part of n elements takes, at most what an
// int64 can say.
func (c *core) bytes(n int) int64 {
	return max(int64(c.elementsAt())+int64(n)*int64(c.kind.Size), pageSize)
}

// fresh is how much of that the arena cannot take from what it holds already.
func (c *core) fresh(n int) int64 { return max(c.bytes(n)-c.arena.Usage().Free, 0) }

// admit is a round in which every rank holds what the ranks of its machine are about to fill
// against its limits: filling gigabytes only to give them back takes long, and every rank's
// share may fit while the sum does not.
func (c *core) admit(ctx context.Context, all []statement) error {
	var sum, here int64
	whose := "all ranks"
	for m, s := range all {
		n := int64(s.values[3])
		sum += min(n, math.MaxInt64-sum)
		if c.in.SameMachine(m) {
			here += min(n, math.MaxInt64-here)
		} else {
			whose = "all ranks of its host"
		}
	}
	if sum < admitFrom { // at every rank the same
		return nil
	}
	limit, err := memlimit.Available()
	if err == nil {
		err = limit.Admit(here)
	}
	if err != nil {
		err = fmt.Errorf("the parts of %s together are %w", whose, err)
	}
	_, err = agree(ctx, c.in, signatureAdmit, refusing(err, statement{}))
	return err
}
