package launcher

import (
	"fmt"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/runtime/job"
)

// sound checks that a message is about a rank of that host, if it is about a rank,
// and that what it holds can be passed on.
func sound(h *host, m control.Message) error {
	rank := h.first
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
		if len(m.Address) == 0 || len(m.Address) > job.MaxAddress {
			return fmt.Errorf("it sent an address of %d bytes", len(m.Address))
		}
	case *control.Report:
		rank = m.Rank
	case *control.Output:
		rank = m.Rank
	case *control.Closed:
		rank = m.Rank
	}
	if rank < h.first || rank >= h.first+h.ranks {
		return fmt.Errorf("it sent a %T of rank %d", m, rank)
	}
	return nil
}
