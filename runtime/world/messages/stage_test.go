package messages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// staged runs a test on the ways that have stages, of which rank 1 knows rank 0's.
func staged(t *testing.T, body func(t *testing.T, ctx context.Context, ranks []*rank)) {
	for _, name := range []string{"copy", "copy, delayed"} {
		t.Run(name, func(t *testing.T) {
			ctx, ranks := deadline(t), newRanks(t, ways[name], 2)
			for !ranks[0].knows(1) {
				pass(ctx, t, ranks, 5000)
			}
			body(t, ctx, ranks)
		})
	}
}

func (r *rank) knows(other int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stages.known != nil && r.stages.known[other]
}

// lent is how many stages a rank has that receivers have not let go of.
func (r *rank) lent() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stages.collect()
	return len(r.stages.lent)
}

// pass sends a message from rank 0 to rank 1.
func pass(ctx context.Context, t *testing.T, ranks []*rank, n int) {
	t.Helper()
	each(t, ranks, func(i int, r *rank) error {
		if i == 0 {
			return r.box.Send(ctx, 1, 1, pattern(n, 5))
		}
		b := make([]byte, n)
		_, err := r.box.Recv(ctx, 0, 1, b)
		if err == nil && !bytes.Equal(b, pattern(n, 5)) {
			err = errors.New("other bytes")
		}
		return err
	})
}

// TestStagesRunOut: a Send returns as long as there is a stage, with its buffer free
// to be used. The next one waits for its receiver.
func TestStagesRunOut(t *testing.T) {
	staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
		for range 3 {
			b := make([]byte, stageBytes)
			for k := range stageCount {
				copy(b, pattern(len(b), byte(k)))
				if err := ranks[0].box.Send(ctx, 1, 1, b); err != nil {
					t.Fatal(err)
				}
			}
			late, err := ranks[0].box.ISend(ctx, 1, 1, pattern(len(b), stageCount))
			if _, over, _ := late.Test(); over || err != nil || ranks[0].lent() != stageCount {
				t.Fatalf("over: %v, %v; %d stages are lent", over, err, ranks[0].lent())
			}
			for k := range stageCount + 1 {
				if s, err := ranks[1].box.Recv(ctx, 0, 1, b); err != nil || s.Bytes != stageBytes || !bytes.Equal(b, pattern(len(b), byte(k))) {
					t.Fatalf("message %d: %+v, %v, or other bytes", k, s, err)
				}
			}
			if _, err := late.Wait(ctx); err != nil || ranks[0].lent() != 0 {
				t.Fatalf("%v; %d stages are lent", err, ranks[0].lent())
			}
		}
	})
}

// TestStagesTakeTurns: shorter messages use all stages, longer ones the last one again.
func TestStagesTakeTurns(t *testing.T) {
	for _, c := range []struct{ bytes, want int }{{stageTurn, stageCount}, {stageTurn + 1, 1}} {
		staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
			used := map[*stage]bool{}
			for range 2 * stageCount {
				if err := ranks[0].box.Send(ctx, 1, 1, pattern(c.bytes, 5)); err != nil {
					t.Fatal(err)
				}
				used[ranks[0].stages.lent[0]] = true
				if _, err := ranks[1].box.Recv(ctx, 0, 1, make([]byte, c.bytes)); err != nil || ranks[0].lent() != 0 {
					t.Fatalf("%v; %d stages are lent", err, ranks[0].lent())
				}
			}
			if len(used) != c.want {
				t.Errorf("messages of %d bytes have used %d stages, want %d", c.bytes, len(used), c.want)
			}
		})
	}
}

// TestReceiverGivesUpWhileStaged cancels receives while the sender fills stages. What
// a call has returned for is not written any more, what it received without an error is
// right, and every stage comes back.
func TestReceiverGivesUpWhileStaged(t *testing.T) {
	const rounds, n = 300, 200_000
	staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
		random := rand.New(rand.NewPCG(7, 1))
		outcomes := map[string]int{}
		for round := range rounds {
			want, limit := pattern(n, byte(round)), time.Duration(random.IntN(100))*time.Microsecond
			sent := make(chan error, 1)
			go func() { sent <- ranks[0].box.Send(ctx, 1, 1, want) }()
			short, cancel := context.WithTimeoutCause(ctx, limit, errEnough)
			buf := make([]byte, n)
			_, err := ranks[1].box.Recv(short, 0, 1, buf)
			cancel()
			if err != nil {
				clear(buf)
			}
			if err := <-sent; err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if err == nil != bytes.Equal(buf, want) || err != nil && (!errors.Is(err, errEnough) || !bytes.Equal(buf, make([]byte, n))) {
				t.Fatalf("round %d: %v, or other bytes", round, err)
			}
			outcomes[fmt.Sprintf("received %v, waits to be %v", err == nil, drain(ctx, t, ranks, want))]++
			if n := ranks[0].lent(); n != 0 {
				t.Fatalf("round %d: %d stages are lent", round, n)
			}
		}
		t.Log(outcomes)
	})
}

// drain receives the message that no receive has matched, if that is so.
func drain(ctx context.Context, t *testing.T, ranks []*rank, want []byte) bool {
	t.Helper()
	arrived := func() bool { return ranks[1].kept() == 1 || ranks[0].lent() == 0 }
	if err := until(ctx, everybody(ranks), readyFunc(arrived)); err != nil {
		t.Fatal(err)
	}
	if ranks[1].kept() == 0 {
		return false
	}
	buf := make([]byte, len(want))
	if _, err := ranks[1].box.Recv(ctx, 0, 1, buf); err != nil || !bytes.Equal(buf, want) {
		t.Fatalf("%v, or other bytes", err)
	}
	return true
}

// begin is a Send that goes no further when it has filled so much.
func begin(ctx context.Context, t *testing.T, r *rank, data []byte, filled int) {
	t.Helper()
	r.mu.Lock()
	st := r.stages.take(1, 1)
	r.mu.Unlock()
	st.fill(data, 0, filled)
	p := rendezvous.ReadyPacket{Context: 77, Tag: 1, ID: st.id, Length: int64(len(data)), Word: st.place, Staged: true}
	if err := r.tell(ctx, 1, p.Append); err != nil {
		t.Fatal(err)
	}
}

// TestReceiverGivesUpHalfWay: while the next piece is waited for.
func TestReceiverGivesUpHalfWay(t *testing.T) {
	for _, filled := range []int{0, stagePiece} {
		staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
			begin(ctx, t, ranks[0], pattern(50_000, 1), filled)
			short, cancel := given(ctx)
			q, err := ranks[1].box.IRecv(0, 1, make([]byte, 50_000))
			if err != nil {
				t.Fatal(err)
			}
			matched := readyFunc(func() bool { return ranks[1].open2() == 1 })
			if err := until(ctx, everybody(ranks), matched); err != nil {
				t.Fatal(err)
			}
			cancel()
			if _, err := q.Wait(short); !errors.Is(err, errEnough) || ranks[0].lent() != 0 {
				t.Errorf("%d bytes filled: %v, %d stages are lent", filled, err, ranks[0].lent())
			}
			pass(ctx, t, ranks, 50_000)
		})
	}
}

// TestSenderDiesWhileItFills: the receiver learns of that, not before it has had a
// message that was complete.
func TestSenderDiesWhileItFills(t *testing.T) {
	for _, filled := range []int{0, 1, 3 * stagePiece, 100_000} {
		staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
			const n = 100_000
			begin(ctx, t, ranks[0], pattern(n, 1), filled)
			ranks[1].failed[0].Store(&job.RankFailedError{Rank: 0, Cause: "test"})
			buf := make([]byte, n)
			_, err := ranks[1].box.Recv(ctx, 0, 1, buf)
			var failed *job.RankFailedError
			switch {
			case filled == n && (err != nil || !bytes.Equal(buf, pattern(n, 1))):
				t.Errorf("a complete message: %v, or other bytes", err)
			case filled < n && !errors.As(err, &failed):
				t.Errorf("%d bytes of %d: %v", filled, n, err)
			}
		})
	}
}

// TestStagesComeBack: those of messages to the dead, and to a communicator that was freed.
func TestStagesComeBack(t *testing.T) {
	for what, end := range map[string]func(ranks []*rank){
		"death": func(ranks []*rank) {
			ranks[0].failed[1].Store(&job.RankFailedError{Rank: 1, Cause: "test"})
		},
		"free": func(ranks []*rank) { ranks[1].box.Close(errEnough) },
	} {
		staged(t, func(t *testing.T, ctx context.Context, ranks []*rank) {
			end(ranks)
			for range stageCount {
				if err := ranks[0].box.Send(ctx, 1, 1, make([]byte, 5000)); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			back := readyFunc(func() bool { return ranks[0].lent() == 0 })
			if err := until(ctx, everybody(ranks), back); err != nil {
				t.Errorf("%s: %v: %d stages are lent", what, err, ranks[0].lent())
			}
		})
	}
}
