package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

var sizes = []int{0, 1, 8, Eager, Eager + 1, 64 << 10, 1<<20 + 3, 3 << 20}

// buffer is n bytes of one kind.
func (r *rank) buffer(n int, arena bool) []byte {
	if !arena || n == 0 {
		return make([]byte, n)
	}
	mem, _ := r.memory.Alloc(n)
	return mem
}

func TestEverySizeComesThrough(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for _, n := range sizes {
			for kinds := range 4 {
				each(t, ranks, func(i int, r *rank) error {
					b := r.buffer(n, kinds>>i&1 != 0)
					if i == 0 {
						copy(b, pattern(n, byte(kinds)))
						return r.box.Send(ctx, 1, n%1000, b)
					}
					s, err := r.box.Recv(ctx, 0, n%1000, b)
					if err == nil && (s != Status{Source: 0, Tag: n % 1000, Bytes: int64(n)} || !bytes.Equal(b, pattern(n, byte(kinds)))) {
						err = fmt.Errorf("%d bytes, kinds %d: %+v, or other bytes", n, kinds, s)
					}
					return err
				})
			}
		}
	})
}

// TestUnexpectedMessagesKeepTheirOrder has all messages sent before the first is
// received, short and long ones mixed, and receives some by wildcards.
func TestUnexpectedMessagesKeepTheirOrder(t *testing.T) {
	const count = 60
	length := func(k int) int { return []int{0, 16, Eager, Eager + 1, 40000}[k%5] + 8 }
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		each(t, ranks, func(i int, r *rank) error {
			if i == 0 {
				var open []*Request
				for k := range count {
					q, err := r.box.ISend(ctx, 1, k%3, pattern(length(k), byte(k)))
					if err != nil {
						return err
					}
					open = append(open, q)
				}
				for _, q := range open {
					if _, err := q.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			}
			if err := until(ctx, r.router, readyFunc(func() bool { return r.kept() == count })); err != nil {
				return err
			}
			for k := range count {
				source, tag := 0, k%3
				if k%2 == 0 {
					source = AnySource
				}
				if k%5 == 0 {
					tag = AnyTag
				}
				b := make([]byte, 50000)
				s, err := r.box.Recv(ctx, source, tag, b)
				if err != nil {
					return err
				}
				if s.Tag != k%3 || !bytes.Equal(b[:s.Bytes], pattern(length(k), byte(k))) {
					return fmt.Errorf("message %d: %+v", k, s)
				}
			}
			return nil
		})
	})
}

func (r *rank) kept() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.box.matcher.Kept()
}

func (r *rank) posted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.box.matcher.Posted()
}

func TestTruncationIsAnError(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for _, c := range []struct{ length, room int }{{100, 99}, {8, 0}, {Eager + 1, 10}, {50000, 49999}, {50000, 0}, {1 << 20, 300000}, {1 << 20, 0}} {
			each(t, ranks, func(i int, r *rank) error {
				if i == 0 {
					return r.box.Send(ctx, 1, 4, pattern(c.length, 1))
				}
				b := make([]byte, c.room)
				s, err := r.box.Recv(ctx, AnySource, AnyTag, b)
				var short *TruncatedError
				if !errors.As(err, &short) || *short != (TruncatedError{Source: 0, Tag: 4, Length: int64(c.length), Room: c.room}) {
					return fmt.Errorf("%d bytes into %d: %v", c.length, c.room, err)
				}
				if s.Bytes != int64(c.room) || !bytes.Equal(b, pattern(c.length, 1)[:c.room]) {
					return fmt.Errorf("%d bytes into %d: %+v, or other bytes", c.length, c.room, s)
				}
				return nil
			})
		}
	})
}

// TestNobodyWaits has every rank send and receive long messages with everybody,
// itself included, and wait for the other direction first.
func TestNobodyWaits(t *testing.T) {
	const size, n = 3, 200_000
	over(t, size, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for _, sendsFirst := range []bool{false, true} {
			each(t, ranks, func(i int, r *rank) error {
				var sends, receives []*Request
				var got [size][]byte
				for peer := range size {
					got[peer] = make([]byte, n)
					in, err := r.box.IRecv(peer, 1, got[peer])
					if err != nil {
						return err
					}
					out, err := r.box.ISend(ctx, peer, 1, pattern(n, byte(10*i+peer)))
					if err != nil {
						return err
					}
					sends, receives = append(sends, out), append(receives, in)
				}
				order := append(receives, sends...)
				if sendsFirst {
					order = append(sends, receives...)
				}
				for _, q := range order {
					if _, err := q.Wait(ctx); err != nil {
						return err
					}
				}
				for peer := range size {
					if !bytes.Equal(got[peer], pattern(n, byte(10*peer+i))) {
						return fmt.Errorf("rank %d got something else from %d", i, peer)
					}
				}
				return nil
			})
		}
	})
}

// TestTestMakesProgress never waits.
func TestTestMakesProgress(t *testing.T) {
	over(t, 2, func(t *testing.T, ctx context.Context, ranks []*rank) {
		each(t, ranks, func(i int, r *rank) error {
			b := pattern(1<<20, 9)
			var q *Request
			var err error
			if i == 0 {
				q, err = r.box.ISend(ctx, 1, 1, b)
			} else {
				clear(b)
				q, err = r.box.IRecv(0, 1, b)
			}
			if err != nil {
				return err
			}
			return until(ctx, r.router, readyFunc(func() bool {
				_, over, failed := q.Test()
				err = failed
				return over && (err != nil || bytes.Equal(b, pattern(1<<20, 9)))
			}))
		})
	})
}

func TestFailedRank(t *testing.T) {
	over(t, 3, func(t *testing.T, ctx context.Context, ranks []*rank) {
		r := ranks[0]
		long := make([]byte, 1<<20)
		calls := map[string]func() error{
			"receive":      func() error { _, err := r.box.Recv(ctx, 2, 1, make([]byte, 8)); return err },
			"any source":   func() error { _, err := r.box.Recv(ctx, AnySource, 1, long); return err },
			"long message": func() error { return r.box.Send(ctx, 2, 1, long) },
		}
		ended := make(chan error, len(calls))
		for what, call := range calls {
			go func() {
				err := call()
				var failed *job.RankFailedError
				if !errors.As(err, &failed) || failed.Rank != 2 {
					err = fmt.Errorf("%s: %w", what, errors.Join(err, errors.New("is not the failure of rank 2")))
				} else {
					err = nil
				}
				ended <- err
			}()
		}
		waiting := readyFunc(func() bool { return r.posted() == 2 && r.open2() == 1 })
		if err := until(ctx, r.router, waiting); err != nil {
			t.Fatal(err)
		}
		r.failed[2].Store(&job.RankFailedError{Rank: 2, Cause: "test"})
		for range calls {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		each(t, ranks[:2], func(i int, r *rank) error { // the others go on
			if i == 0 {
				return r.box.Send(ctx, 1, 1, long)
			}
			_, err := r.box.Recv(ctx, 0, 1, make([]byte, 1<<20))
			return err
		})
	})
}

// open2 is how many requests have an id.
func (r *rank) open2() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests.count
}

func TestMisuse(t *testing.T) {
	r := newRanks(t, ways["copy"], 2)[0]
	ctx := t.Context()
	for what, call := range map[string]func() error{
		"rank 2 of 2":                func() error { return r.box.Send(ctx, 2, 0, nil) },
		"rank -1 of 2":               func() error { return r.box.Send(ctx, -1, 0, nil) },
		"tag -1: want 0 to":          func() error { return r.box.Send(ctx, 1, -1, nil) },
		"tag 2147483648":             func() error { _, err := r.box.IRecv(1, 1<<31, nil); return err },
		"rank -2 of 2":               func() error { _, err := r.box.Recv(ctx, -2, 0, nil); return err },
		`Send to rank 1 with tag -7`: func() error { _, err := r.box.ISend(ctx, 1, -7, nil); return err },
	} {
		if err := call(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(what)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestShortMessagesAllocateNothing(t *testing.T) {
	ranks := newRanks(t, ways["copy"], 2)
	a, b, buf := ranks[0].box, ranks[1].box, make([]byte, 8)
	ctx := t.Context()
	if n := testing.AllocsPerRun(500, func() {
		if err := a.Send(ctx, 1, 3, buf); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Recv(ctx, 0, 3, buf); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}
