package messages

import (
	"context"
	"fmt"
	"testing"
)

// TestManyMessagesForADirectReceive: the receive holds its locks while messages
// come that are not for it, before and behind the one that is, in one Poll.
func TestManyMessagesForADirectReceive(t *testing.T) {
	const count = 20
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for round := range 30 {
			for _, mine := range []int{0, count / 2, count - 1} {
				for tag := range count {
					if err := ranks[0].box.Send(ctx, 1, tag, []byte{byte(round), byte(tag)}); err != nil {
						t.Fatal(err)
					}
				}
				for k := range count { // the one first, and the others in a row
					tag := (mine + k) % count
					var buf [2]byte
					s, err := ranks[1].box.Recv(ctx, AnySource, tag, buf[:])
					if err != nil || s.Bytes != 2 || buf != [2]byte{byte(round), byte(tag)} {
						t.Fatal(fmt.Errorf("round %d, tag %d: %+v, %v, %v", round, tag, s, err, buf))
					}
				}
			}
		}
		if n := ranks[1].kept() + ranks[1].posted(); n != 0 {
			t.Errorf("%d messages and receives are left", n)
		}
	})
}

// TestDirectReceiveKeepsTheOrder: a long message and a short one that match come in
// one Poll, and the long one was sent first.
func TestDirectReceiveKeepsTheOrder(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for round := range 20 {
			long, err := ranks[0].box.ISend(ctx, 1, 1, pattern(50_000, byte(round)))
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				if err := ranks[0].box.Send(ctx, 1, 1, []byte{byte(k)}); err != nil {
					t.Fatal(err)
				}
			}
			buf := make([]byte, 50_000)
			for k, want := range []int64{50_000, 1, 1, 1} {
				s, err := ranks[1].box.Recv(ctx, 0, AnyTag, buf)
				if err != nil || s.Bytes != want || k > 0 && buf[0] != byte(k-1) {
					t.Fatalf("round %d, message %d: %+v, %v, want %d bytes", round, k, s, err, want)
				}
			}
			if _, err := long.Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
	})
}
