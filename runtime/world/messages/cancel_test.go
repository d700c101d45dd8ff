package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

var errEnough = errors.New("had enough")

// given returns a context that ends when the returned function is called.
func given(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, func() { cancel(errEnough) }
}

// TestWithdrawnReceive: the message goes to the next one.
func TestWithdrawnReceive(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for _, n := range []int{8, 100_000} {
			short, cancel := given(ctx)
			gone := make([]byte, n)
			ended := make(chan error)
			go func() {
				_, err := ranks[1].box.Recv(short, 0, 1, gone)
				ended <- err
			}()
			if err := until(ctx, ranks[1].router, readyFunc(func() bool { return ranks[1].posted() == 1 })); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := <-ended; !errors.Is(err, errEnough) {
				t.Fatalf("cancelled: %v", err)
			}
			each(t, ranks, func(i int, r *rank) error {
				if i == 0 {
					return r.box.Send(ctx, 1, 1, pattern(n, 3))
				}
				b := make([]byte, n)
				if _, err := r.box.Recv(ctx, 0, 1, b); err != nil || !bytes.Equal(b, pattern(n, 3)) {
					return fmt.Errorf("the next receive: %w, or other bytes", err)
				}
				return nil
			})
			if !bytes.Equal(gone, make([]byte, n)) {
				t.Error("a withdrawn receive's buffer was written to")
			}
		}
	})
}

// TestWithdrawnMessage: it was never sent, also for a receive that looks later.
func TestWithdrawnMessage(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		short, cancel := given(ctx)
		q, err := ranks[0].box.ISend(ctx, 1, 1, pattern(100_000, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := until(ctx, ranks[1].router, readyFunc(func() bool { return ranks[1].kept() == 1 })); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := q.Wait(short); !errors.Is(err, errEnough) {
			t.Fatalf("cancelled: %v", err)
		}
		each(t, ranks, func(i int, r *rank) error {
			if i == 0 {
				return r.box.Send(ctx, 1, 1, pattern(50_000, 2))
			}
			b := make([]byte, 100_000)
			s, err := r.box.Recv(ctx, 0, 1, b)
			if err == nil && (s.Bytes != 50_000 || !bytes.Equal(b[:s.Bytes], pattern(50_000, 2))) {
				err = fmt.Errorf("%+v: the message that was withdrawn, or other bytes", s)
			}
			return err
		})
	})
}

// TestGivenUpAtAnyMoment cancels either side, or both, while long messages are
// under way. What a call has returned for is neither read nor written any more:
// each side changes its buffer at once. What was received without an error is
// right.
func TestGivenUpAtAnyMoment(t *testing.T) {
	const rounds, n = 150, 1 << 20
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		random := rand.New(rand.NewPCG(1, uint64(len(t.Name()))))
		outcomes := map[string]int{}
		for round := range rounds {
			want, mine := pattern(n, byte(round)), pattern(n, byte(round)+128)
			var errs [2]error
			var wait sync.WaitGroup
			after := func() time.Duration { return time.Duration(random.IntN(600)) * time.Microsecond }
			limits := [2]time.Duration{after(), after()}
			if kind := random.IntN(4); kind < 2 {
				limits[kind] = time.Minute
			}
			buf := [2][]byte{bytes.Clone(want), make([]byte, n)}
			both, cancelBoth := context.WithCancelCause(ctx)
			for i, r := range ranks {
				short, cancel := context.WithTimeoutCause(both, limits[i], errEnough)
				wait.Go(func() {
					defer cancel()
					defer func() {
						if errs[i] != nil { // or the other might wait for good
							cancelBoth(errEnough)
						}
					}()
					if i == 0 {
						errs[0] = r.box.Send(short, 1, 1, buf[0])
						clear(buf[0])
						return
					}
					_, errs[1] = r.box.Recv(short, 0, 1, buf[1])
					if errs[1] == nil && !bytes.Equal(buf[1], want) {
						errs[1] = fmt.Errorf("round %d: other bytes", round)
						t.Error(errs[1])
					}
					copy(buf[1], mine)
				})
			}
			wait.Wait()
			cancelBoth(nil)
			for _, err := range errs {
				if err != nil && !errors.Is(err, errEnough) && !errors.Is(err, errWithdrawn) && !errors.Is(err, errAbandoned) {
					t.Errorf("round %d: %v", round, err)
				}
			}
			outcomes[fmt.Sprintf("sent %v, received %v", errs[0] == nil, errs[1] == nil)]++
			drop(ctx, t, ranks, &errs, want)
			if !bytes.Equal(buf[1], mine) {
				t.Fatalf("round %d: the buffer was written to after the call: %v", round, errs)
			}
		}
		t.Log(outcomes)
	})
}

// drop takes what a round has left behind: a message that has left, and whose receive was
// given up before it matched, would be received in the next round.
func drop(ctx context.Context, t *testing.T, ranks []*rank, errs *[2]error, want []byte) {
	t.Helper()
	settled := func() bool {
		for _, r := range ranks {
			if r.open2() != 0 || r.posted() != 0 {
				return false
			}
		}
		return true
	}
	if err := until(ctx, everybody(ranks), readyFunc(settled)); err != nil {
		t.Fatalf("%v after %v", err, *errs)
	}
	if errs[0] != nil {
		return
	}
	each(t, ranks, func(i int, r *rank) error {
		if i == 0 {
			return r.box.Send(ctx, 1, 2, nil)
		}
		if _, err := r.box.Recv(ctx, 0, 2, nil); err != nil || r.kept() == 0 { // all that was sent before is here
			return err
		}
		b := make([]byte, len(want))
		if _, err := r.box.Recv(ctx, 0, 1, b); err != nil || !bytes.Equal(b, want) {
			return fmt.Errorf("the message that was left: %w, or other bytes", err)
		}
		return nil
	})
}

// TestCloseEndsWhatWaits has requests of every kind under way.
func TestCloseEndsWhatWaits(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		r := ranks[0]
		ended := make(chan error)
		for tag := range 3 {
			go func() {
				_, err := r.box.Recv(ctx, 1, tag, make([]byte, 8))
				ended <- err
			}()
			go func() { ended <- r.box.Send(ctx, 1, tag, make([]byte, 1<<20)) }()
		}
		q, err := r.box.ISend(ctx, 1, 9, make([]byte, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		under := readyFunc(func() bool { return r.posted() == 3 && r.open2() == 4 })
		if err := until(ctx, r.router, under); err != nil {
			t.Fatal(err)
		}
		r.Messages.Close(errEnough)
		for range 6 {
			if err := <-ended; !errors.Is(err, errEnded) && !errors.Is(err, errEnough) {
				t.Errorf("ended with %v", err)
			}
		}
		if _, err := q.Wait(ctx); !errors.Is(err, errEnough) {
			t.Errorf("an ISend ended with %v", err)
		}
		if err := r.box.Send(ctx, 1, 1, make([]byte, 1<<20)); err == nil {
			t.Error("a Send after Close succeeded")
		}
		if _, err := r.box.Recv(ctx, 1, 1, nil); err == nil {
			t.Error("a Recv after Close succeeded")
		}
	})
}
