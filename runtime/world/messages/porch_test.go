package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// slots returns how many of the slots that rank 1 has for rank 0 are in a state.
func (r *rank) slots(state slotState) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.porches.ours[0]; p != nil {
		for i := range p {
			if p[i].state == state {
				n++
			}
		}
	}
	return n
}

// exchange has rank 0 send to rank 1 a message of n bytes.
func exchange(t *testing.T, ctx context.Context, ranks []*rank, n int) {
	t.Helper()
	each(t, ranks, func(i int, r *rank) error {
		if i == 0 {
			return r.box.Send(ctx, 1, 1, pattern(n, 9))
		}
		return receives(ctx, r, n, 9)
	})
}

func receives(ctx context.Context, r *rank, n int, seed byte) error {
	b := make([]byte, n)
	if _, err := r.box.Recv(ctx, 0, 1, b); err != nil || !bytes.Equal(b, pattern(n, seed)) {
		return fmt.Errorf("%d bytes: %w, or other bytes", n, err)
	}
	return nil
}

// TestPorch: after a first message each next one has a slot, and what fits into it is
// sent though nobody receives; then there is none, and a Send waits for a receive.
func TestPorch(t *testing.T) {
	ctx, ranks := deadline(t), newRanks(t, ways["push"], 2)
	for _, n := range []int{100_000, slotBytes, 3 * slotBytes, Eager + 1} {
		exchange(t, ctx, ranks, n)
		hasSlot := readyFunc(func() bool {
			ranks[0].mu.Lock()
			defer ranks[0].mu.Unlock()
			return ranks[0].porches.theirs[1] != [rendezvous.Slots]rendezvous.Place{}
		})
		if err := until(ctx, everybody(ranks), hasSlot); err != nil {
			t.Fatalf("after %d bytes nothing was granted: %v", n, err)
		}
		if ranks[1].slots(announced)+ranks[1].slots(come) != 0 {
			t.Errorf("after %d bytes something was left in a slot", n)
		}
	}
	if err := ranks[0].box.Send(ctx, 1, 1, pattern(slotBytes, 1)); err != nil {
		t.Fatalf("a message that fits: %v", err)
	}
	if err := until(ctx, everybody(ranks), readyFunc(func() bool { return ranks[1].slots(come) == 1 })); err != nil {
		t.Fatal(err)
	}
	short, cancel := given(ctx)
	q, err := ranks[0].box.ISend(short, 1, 1, pattern(slotBytes, 2))
	if err != nil {
		t.Fatal(err)
	}
	if _, over, err := q.Test(); over || err != nil {
		t.Errorf("a message without a slot is over: %v", err)
	}
	cancel()
	if _, err := q.Wait(short); !errors.Is(err, errEnough) {
		t.Errorf("given up: %v", err)
	}
	if err := receives(ctx, ranks[1], slotBytes, 1); err != nil {
		t.Error(err)
	}
	exchange(t, ctx, ranks, slotBytes)
}

// TestLeftOnThePorch: a slot is free again when the receive of what comes there was
// given up, and when the communicator was freed.
func TestLeftOnThePorch(t *testing.T) {
	ctx, ranks := deadline(t), newRanks(t, ways["push"], 2)
	exchange(t, ctx, ranks, slotBytes)
	ranks[1].box.Close(errEnough)
	if err := ranks[0].box.Send(ctx, 1, 1, pattern(slotBytes, 1)); err != nil {
		t.Fatal(err)
	}
	if err := until(ctx, everybody(ranks), readyFunc(func() bool { return ranks[1].slots(vacant) == 2 })); err != nil {
		t.Fatalf("the slot stays taken: %v", err)
	}
}

// TestPorchesAreBounded for any number of ranks.
func TestPorchesAreBounded(t *testing.T) {
	for size, want := range map[int]int{1: slotBytes, 2: slotBytes, 32: slotBytes, 64: slotBytes / 2, 1024: 32 << 10, 2048: leastSlot, 2049: 0} {
		var s porches
		s.init(size)
		if s.slotBytes != want {
			t.Errorf("%d ranks: slots of %d bytes, want %d", size, s.slotBytes, want)
		}
	}
}
