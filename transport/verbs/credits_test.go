//go:build cgo && linux

package verbs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

func TestCreditLimits(t *testing.T) {
	for _, c := range []struct{ entries, ranks, budget, most int }{
		{1 << 15, 8, 1024, 128}, {1 << 15, 64, 1024, 1024}, {1 << 15, 1000, 1024, 3024}, {100, 8, 1024, 100}, {16, 8, 1024, 16},
	} {
		l, err := creditLimits(c.entries, c.ranks, c.budget)
		if got := l.Greatest(c.ranks); err != nil || got != c.most {
			t.Errorf("%+v: %+v posts up to %d buffers, %v", c, l, got, err)
		}
	}
	if l, err := creditLimits(15, 8, 1024); err == nil {
		t.Errorf("15 entries for 8 ranks: %+v", l)
	}
}

// TestManySenders: more messages are accepted than the target has buffers, although it
// does not poll, and Puts behind them arrive. Then all that it has been sent is there,
// and who sends more has more credit.
func TestManySenders(t *testing.T) {
	const ranks, buffers, more = 10, 32, 300
	p := provider(t)
	p.buffers = buffers
	w := transporttest.NewWorld(t, p, ranks)
	words := make([]byte, wordBytes*ranks)
	region, err := w.Endpoints[0].Register(0, 0, words)
	check(t, err)
	conns := make([]transport.Conn, ranks)
	sent := make(chan error, ranks)
	for r := 1; r < ranks; r++ {
		conns[r], err = w.Endpoints[r].Dial(t.Context(), 0, w.Endpoints[0].Addr())
		check(t, err)
		go func() { sent <- sendAndPut(conns[r], region.Remote(), r) }()
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for r := 1; r < ranks; r++ {
		select {
		case err := <-sent:
			check(t, err)
		case <-ctx.Done():
			t.Fatal("a sender is not done although it needs nobody to poll")
		}
	}
	for r := 1; r < ranks; r++ {
		if c := next(t, w.Endpoints[r]); c.Op != 1 || c.Err != nil {
			t.Fatalf("rank %d: %+v", r, c)
		}
		if words[wordBytes*r] != byte(r) {
			t.Errorf("rank %d has put %d", r, words[wordBytes*r])
		}
	}
	go func() { sent <- sendNumbers(conns[1], transport.MinCredit, more) }()
	if err := expectNumbers(t, w.Endpoints[0], ranks, more); err != nil {
		t.Error(err)
	}
	check(t, <-sent)
	check(t, region.Close())
	e := w.Endpoints[0].(*endpoint)
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	if got := len(e.table.buffers); got > buffers+leastCredits*(ranks-1) || got >= transport.MinCredit*(ranks-1) {
		t.Errorf("%d buffers for %d peers", got, ranks-1)
	}
}

// sendAndPut sends as much as must be accepted, and puts and flushes behind it.
func sendAndPut(c transport.Conn, to transport.Remote, rank int) error {
	if err := sendNumbers(c, 0, transport.MinCredit); err != nil {
		return err
	}
	to, err := to.Slice(int64(wordBytes*rank), wordBytes)
	if err != nil {
		return err
	}
	if err := c.Put(to, []byte{byte(rank)}, 0); err != nil {
		return err
	}
	return c.Flush(1)
}

// sendNumbers sends so many messages, numbered from first on.
func sendNumbers(c transport.Conn, first, count int) error {
	msg := make([]byte, transport.MaxMessage)
	for k := first; k < first+count; k++ {
		msg[0], msg[1], msg[len(msg)-1] = byte(k), byte(k>>8), byte(k)
		if err := c.Send(msg); err != nil {
			return err
		}
	}
	return nil
}

// expectNumbers polls for what every rank has sent, and rank 1 more than the others.
func expectNumbers(t *testing.T, e transport.Endpoint, ranks, more int) error {
	var done [16]transport.Completion
	got := make([]int, ranks)
	left := transport.MinCredit*(ranks-1) + more
	for end := time.Now().Add(patience); left > 0 && time.Now().Before(end); {
		n, err := e.Poll(done[:])
		check(t, err)
		left -= n
		for _, c := range done[:n] {
			m, k := c.Message, got[c.Rank]
			if c.Err != nil || len(m) != transport.MaxMessage || m[0] != byte(k) || m[1] != byte(k>>8) || m[len(m)-1] != byte(k) {
				return fmt.Errorf("rank %d: message %d is %d bytes (%v)", c.Rank, k, len(m), c.Err)
			}
			got[c.Rank]++
		}
	}
	if left > 0 {
		return fmt.Errorf("%d messages have not come", left)
	}
	return nil
}
