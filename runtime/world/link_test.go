package world

import (
	"errors"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/group"
)

// A member may break a group, in the last round before it is used, while another
// one has not made it yet: that one must still hear of it.
func TestBreakThatComesBeforeTheGroup(t *testing.T) {
	comms, err := InProcessHosts(2, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range comms {
			if err := c.Leave(); err != nil {
				t.Error(err)
			}
		}
	})
	ranks := []int{0, 1}
	links := []*link{newLink(comms[0].process, ranks), newLink(comms[1].process, ranks)}
	links[0].port = comms[0].process.router.Open(links[0].deliver)
	links[1].ports[0] = links[0].port.Number()
	join := func(me int) *group.Group {
		area, err := arena.Alloc[byte](comms[me].Arena(), group.Size(2))
		if err != nil {
			t.Fatal(err)
		}
		g, err := comms[me].process.newGroup("test", area, me, links[me], ranks)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	join(1).Break("Dup", errors.New("the user lost patience"))
	if err := comms[0].process.waiter.Until(t.Context(), isEarly{links[0]}); err != nil {
		t.Fatal(err)
	}
	var broken *BrokenError
	if err := join(0).Broken(); !errors.As(err, &broken) || broken.Rank != 1 {
		t.Errorf("%v, want what rank 1 said", err)
	}
}

type isEarly struct{ *link }

func (l isEarly) Ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.early != nil
}

func (l isEarly) Err() error { return nil }
