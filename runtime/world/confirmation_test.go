package world

import (
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
)

// FuzzConfirmation: whatever arrives, only memory held under the name it carries is
// released.
func FuzzConfirmation(f *testing.F) {
	name := arena.HoldName{Context: 5, Number: 1}
	f.Add(encodeConfirmation(name), 3)
	f.Add(encodeConfirmation(name), 4)
	f.Add(encodeConfirmation(arena.HoldName{Context: 5}), 3)
	f.Add([]byte{1, 2, 3}, 3)
	f.Fuzz(func(t *testing.T, msg []byte, from int) {
		p := &process{arena: arena.New(arena.Config{})}
		defer p.arena.Close()
		mem, err := arena.Alloc[byte](p.arena, 64)
		if err != nil {
			t.Fatal(err)
		}
		p.arena.Hold(name, []int{3}, false)
		if err := arena.FreeUnder(p.arena, mem, name); err != nil {
			t.Fatal(err)
		}
		p.confirmed(from, msg)
		released := p.arena.Usage().Quarantined == 0
		if want := from == 3 && string(msg) == string(encodeConfirmation(name)); released != want {
			t.Errorf("%x from rank %d: released is %v", msg, from, released)
		}
	})
}
