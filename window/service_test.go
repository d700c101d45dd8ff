package window

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window/lock"
	"github.com/golaunch/golaunch/window/packet"
)

// onHosts makes a window over n ranks that are hosts of their own.
func onHosts[T any](t testing.TB, n, elements int) []*Window[T] {
	t.Helper()
	all, _ := worldOnHosts[T](t, n, elements)
	return all
}

func worldOnHosts[T any](t testing.TB, n, elements int) ([]*Window[T], []*world.Comm) {
	t.Helper()
	comms, err := world.InProcessHosts(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, errs := make([]*Window[T], n), make([]error, n)
	var wait sync.WaitGroup
	for i, comm := range comms {
		wait.Go(func() { all[i], errs[i] = Allocate[T](context.Background(), comm, elements) })
		t.Cleanup(func() {
			if err := comm.Leave(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return all, comms
}

// ask has rank 0 send a request to rank 1 that is answered.
func ask[T any](w []*Window[T], p packet.Packet, value []byte) error {
	return w[0].request(w[0].parts[1].remote, p, value)
}

// What a service cannot do it refuses, says why, and goes on.
func TestStrangeRequests(t *testing.T) {
	w := onHosts[int32](t, 2, 8)
	c := onHosts[complex128](t, 2, 8)
	one, wide := make([]byte, 4), make([]byte, 16)
	for _, x := range []struct {
		got  error
		want string
	}{
		{ask(w, packet.Packet{Kind: packet.Fetch, Op: uint8(Sum), Disp: 8, Data: one}, one), "1 element at displacement 8, of 8"},
		{ask(w, packet.Packet{Kind: packet.Fetch, Op: uint8(Sum), Disp: 1 << 63, Data: one}, one), "1 element at displacement 9223372036854775808, of 8"},
		{ask(w, packet.Packet{Kind: packet.Fetch, Op: uint8(Sum), Data: one[:3]}, one), "3 bytes for 1 element of 4"},
		{ask(w, packet.Packet{Kind: packet.Fetch, Op: 99, Data: one}, one), "Op(99) is no operation"},
		{ask(c, packet.Packet{Kind: packet.Fetch, Op: uint8(Max), Data: wide}, wide), "Max is not defined for elements of type complex128"},
		{ask(w, packet.Packet{Kind: packet.Swap, Data: one}, one), "4 bytes for 2 elements of 4"},
		{ask(w, packet.Packet{Kind: packet.Enter}, nil), "elements of type int32 have no latch"},
		{ask(c, packet.Packet{Kind: packet.Enter, Disp: 8}, nil), "1 element at displacement 8, of 8"},
		{ask(w, packet.Packet{Kind: packet.Unlock}, nil), "this rank does not hold its lock"},
		{ask(w, packet.Packet{Kind: packet.Lock, Mode: 3}, nil), "mode 3"},
	} {
		if x.got == nil || x.got.Error() != x.want {
			t.Errorf("%v, want %s", x.got, x.want)
		}
	}
	r := w[0].parts[1].remote
	for _, p := range []packet.Packet{
		{Kind: packet.Accumulate, Op: uint8(Sum), Count: 1 << 31, Data: one},
		{Kind: packet.Accumulate, Op: uint8(Sum), Count: 1, Disp: 9, Data: one},
		{Kind: packet.Leave}, {Kind: packet.Leave, Disp: 1 << 60}, {Kind: packet.Cancel, Token: 12345},
	} {
		if err := w[0].tell(r, &p); err != nil {
			t.Error(err)
		}
	}
	if err := w[0].complete(r); err == nil || err.Error() != "2147483648 elements at displacement 0, of 8" {
		t.Errorf("the first failure of requests without an answer is %v", err)
	}
	if err := ask(w, packet.Packet{Kind: packet.Flush}, nil); err != nil {
		t.Errorf("it is told twice: %v", err)
	}
	for i, v := range w[1].Local() {
		if v != 0 {
			t.Errorf("element %d has become %d", i, v)
		}
	}
}

// A request that waits for a latch does not keep others waiting, and its origin's later
// ones stay behind it.
func TestRequestsKeepTheirOrder(t *testing.T) {
	w := onHosts[[3]int8](t, 3, 200)
	if err := w[2].request(w[2].parts[1].remote, packet.Packet{Kind: packet.Enter, Disp: 70}, nil); err != nil {
		t.Fatal(err)
	}
	r := w[0].parts[1].remote
	src := make([]byte, 3*200)
	for i := range src {
		src[i] = byte(i)
	}
	if err := w[0].accumulateTo(r, 0, src, Replace); err != nil { // stops at 64
		t.Fatal(err)
	}
	late, err := w[0].ask(r, packet.Packet{Kind: packet.Fetch, Op: uint8(NoOp), Disp: 199, Data: src[:3]})
	if err != nil {
		t.Fatal(err)
	}
	other := make([]byte, 3)
	if err := w[2].request(w[2].parts[1].remote, packet.Packet{Kind: packet.Fetch, Op: uint8(NoOp), Disp: 199, Data: other}, other); err != nil {
		t.Fatal(err)
	}
	if late.Ready() || other[0] != 0 {
		t.Errorf("overtaken: %v, %v", late.Ready(), other)
	}
	if err := w[2].tell(w[2].parts[1].remote, &packet.Packet{Kind: packet.Leave, Disp: 70}); err != nil {
		t.Fatal(err)
	}
	if err := w[0].await(late, other); err != nil || other[0] != src[3*199] {
		t.Errorf("%v, %v", other, err)
	}
}

// An Accumulate that needs the latch of a dead rank is an error of the next Flush.
func TestAccumulateAtTheLatchOfTheDead(t *testing.T) {
	w, comms := worldOnHosts[[3]int8](t, 3, 200)
	if err := w[2].request(w[2].parts[1].remote, packet.Packet{Kind: packet.Enter, Disp: 70}, nil); err != nil {
		t.Fatal(err)
	}
	r := w[0].parts[1].remote
	if err := w[0].accumulateTo(r, 0, make([]byte, 300), Replace); err != nil {
		t.Fatal(err)
	}
	if err := comms[2].Abort(9); err != nil {
		t.Fatal(err)
	}
	var failed *world.RankFailedError
	if err := w[0].complete(r); !errors.As(err, &failed) || failed.Rank != 2 {
		t.Errorf("the Flush gives %v", err)
	}
	if err := ask(w, packet.Packet{Kind: packet.Flush}, nil); err != nil {
		t.Errorf("it is told twice: %v", err)
	}
}

// A second Lock of an origin is refused, and a Cancel of one that is over changes nothing.
func TestDeputyIsForOneLock(t *testing.T) {
	w := onHosts[int64](t, 2, 1)
	lockIt := packet.Packet{Kind: packet.Lock, Mode: uint8(lock.Exclusive)}
	if err := ask(w, lockIt, nil); err != nil {
		t.Fatal(err)
	}
	if err := ask(w, lockIt, nil); err == nil || !strings.Contains(err.Error(), "already holds it") {
		t.Errorf("a second Lock gives %v", err)
	}
	if err := w[0].tell(w[0].parts[1].remote, &packet.Packet{Kind: packet.Cancel, Token: w[0].calls.all[0].token}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if w[1].locks[1].TryExclusive() {
			t.Fatal("the lock is free")
		}
		if err := ask(w, packet.Packet{Kind: packet.Unlock}, nil); err != nil {
			t.Fatal(err)
		}
		if err := ask(w, lockIt, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Answers that nobody waits for are dropped: late ones, invented ones, a stranger's.
func TestStrangeAnswers(t *testing.T) {
	w := onHosts[int64](t, 3, 1)
	c := &w[0].core
	k := c.calls.take(c, c.parts[1].remote)
	for _, token := range []uint64{0, k.token + 1, k.token + 1<<tokenBits, 1<<64 - 1} {
		c.calls.answer(1, &packet.Packet{Kind: packet.Done, Token: token})
	}
	c.calls.answer(2, &packet.Packet{Kind: packet.Done, Token: k.token})
	if k.Ready() {
		t.Fatal("an answer for another call was taken")
	}
	c.calls.answer(1, &packet.Packet{Kind: packet.Done, Token: k.token, Data: []byte("12345678")})
	c.calls.answer(1, &packet.Packet{Kind: packet.Refused, Token: k.token})
	if !k.Ready() || k.err != nil || string(k.value) != "12345678" {
		t.Errorf("%q, %v", k.value, k.err)
	}
	old := k.token
	if err := c.await(k, make([]byte, 4)); err == nil || err.Error() != "an answer of 8 bytes, want 4" {
		t.Errorf("%v", err)
	}
	if again := c.calls.take(c, c.parts[1].remote); again != k || again.token == old || again.Ready() {
		t.Error("the call is not used again, or with the same token")
	}
}

// A service whose window ended without everybody's agreement refuses what comes.
func TestRefusingService(t *testing.T) {
	w := onHosts[int64](t, 2, 1)
	w[1].service.refuse(errors.New("allocating failed"))
	for _, kind := range []packet.Kind{packet.Flush, packet.Lock, packet.Unlock} {
		if err := ask(w, packet.Packet{Kind: kind, Mode: map[packet.Kind]uint8{packet.Lock: 1}[kind]}, nil); err == nil || err.Error() != "allocating failed" {
			t.Errorf("%v", err)
		}
	}
}

// FuzzService: whatever an origin sends, its target neither fails nor stops serving, and
// nothing outside the elements is changed.
func FuzzService(f *testing.F) {
	w, wide := onHosts[int16](f, 2, 8), onHosts[[3]int8](f, 2, 8)
	for kind := packet.Kind(0); kind < 20; kind++ {
		p := packet.Packet{Kind: kind, Op: 1, Count: 1, Token: 1, Disp: 3, Data: []byte{1, 2, 3, 4, 5, 6}}
		f.Add(p.Encode(nil))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if p, err := packet.Decode(msg); err == nil && p.Token != 0 { // answers must not meet our own calls
			p.Token = 1 << 63
			msg = p.Encode(nil)
		}
		for _, c := range []*core{&w[1].core, &wide[1].core} {
			c.service.handle(0, msg)
			c.service.handle(7, msg)
		}
		deadline := time.Now().Add(10 * time.Second)
		for _, c := range []*core{&w[0].core, &wide[0].core} {
			// What was sent may hold the lock or a latch: give them back.
			_ = c.request(c.parts[1].remote, packet.Packet{Kind: packet.Unlock}, nil)
			for i := range uint64(8) {
				if err := c.tell(c.parts[1].remote, &packet.Packet{Kind: packet.Leave, Disp: i}); err != nil {
					t.Error(err)
				}
			}
			if err := c.complete(c.parts[1].remote); err != nil && c.in.Failure(1) != nil || time.Now().After(deadline) {
				t.Errorf("the service has ended: %v", err)
			}
		}
		if !w[1].locks[1].Idle() || !wide[1].locks[1].Idle() {
			t.Errorf("% x leaves the lock held", msg)
		}
	})
}
