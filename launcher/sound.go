package launcher

import (
	"fmt"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

// sound checks that a message is about one of the job's ranks, if it is about a
// rank.
func sound(m control.Message, ranks int) error {
	rank := 0
	switch m := m.(type) {
	case *control.Started:
		rank = m.Rank
	case *control.NotStarted:
		rank = m.Rank
	case *control.Joined:
		rank = m.Rank
	case *control.Left:
		rank = m.Rank
	case *control.Lost:
		rank = m.Rank
	case *control.Aborted:
		rank = m.Rank
	case *control.Exited:
		rank = m.Rank
	case *control.Address:
		rank = m.Rank
	case *control.Report:
		rank = m.Rank
	case *control.Output:
		rank = m.Rank
	case *control.Closed:
		rank = m.Rank
	}
	if rank < 0 || rank >= ranks {
		return fmt.Errorf("it sent a %T of rank %d", m, rank)
	}
	return nil
}
