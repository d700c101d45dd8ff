package transporttest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// What a rank relies on that waits for the endpoint's descriptor itself, after Rest, and
// then polls. Nothing here polls for any other reason: a descriptor that is silent is found
// out.
var watchChecks = []check{
	{"the descriptor of a rank that rests is readable when a message comes, until it polls", 2, descriptorAnnounces},
	{"the descriptor announces completions", 2, descriptorAnnouncesCompletions},
	{"operations on a rank that polls without room complete", 2, pollWithoutRoomServes},
	{"a sender whose Wait polls without room goes on", 2, senderThatPollsGoesOn},
}

// errSilent ends a wait that would hang a test for good.
var errSilent = errors.New("the descriptor stays silent")

// watch has the job's ranks set Config.Watches.
func (j *Job) watch(t testing.TB) {
	j.watching = true
	for i := range j.ranks {
		r := &j.ranks[i]
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		ok(t, err)
		r.rung = fd
		t.Cleanup(func() { _ = unix.Close(fd) })
	}
}

func (r *jobRank) ring() {
	r.bell.ring()
	if r.rung != 0 {
		_, _ = unix.Write(r.rung, binary.NativeEndian.AppendUint64(nil, 1))
	}
}

// look waits for at most so many milliseconds until the descriptor is readable, or somebody
// has rung, of which it takes note.
func (r *jobRank) look(milliseconds int) (readable, rung bool, err error) {
	fds := []unix.PollFd{{Fd: int32(r.endpoint.(transport.Waker).Descriptor()), Events: unix.POLLIN}, {Fd: int32(r.rung), Events: unix.POLLIN}}
	if _, err = unix.Poll(fds, milliseconds); err == unix.EINTR {
		return false, false, nil
	}
	if rung = fds[1].Revents != 0; rung {
		var count [8]byte
		_, _ = unix.Read(r.rung, count[:])
	}
	return fds[0].Revents != 0, rung, err
}

// await waits until the descriptor is readable, or somebody rings.
func (r *jobRank) await(ctx context.Context) (readable bool, err error) {
	for {
		readable, rung, err := r.look(20)
		if readable || rung || err != nil {
			return readable, err
		}
		if ctx.Err() != nil {
			return false, errSilent
		}
	}
}

// watchUntil polls into buf, then rests and waits, and so on until enough is true, which gets
// what has come.
func (r *jobRank) watchUntil(ctx context.Context, buf []transport.Completion, enough func([]transport.Completion) bool) error {
	for {
		got, err := r.endpoint.Poll(buf)
		if err != nil {
			return err
		}
		if enough(buf[:got]) {
			return nil
		}
		if got > 0 {
			continue
		}
		if rester, ok := r.endpoint.(transport.Rester); ok {
			rester.Rest()
		}
		if enough(nil) {
			return nil
		}
		if _, err := r.await(ctx); err != nil {
			return err
		}
	}
}

func (n *node) own() *jobRank { return &n.job.ranks[n.rank] }

// settle polls and rests until the descriptor is not readable any more: one that always is
// would keep its rank from sleeping.
func (n *node) settle() error {
	var buf [4]transport.Completion
	for n.ctx.Err() == nil {
		got, err := n.pollOrRest(buf[:])
		if err != nil {
			return err
		}
		n.keep(buf[:got])
		readable, rung, err := n.own().look(0)
		if got == 0 && !readable && !rung {
			return err
		}
	}
	return errors.New("the descriptor is always readable")
}

func descriptorAnnounces(t *testing.T, nodes []*node) {
	n := nodes[1]
	var called atomic.Int64
	count := func() { called.Add(1) }
	n.own().progress.Store(&count)
	announced := 0
	const messages = 100
	for k := range messages {
		ok(t, n.settle())
		ok(t, nodes[0].send(1, text(0, k, 1+37*k)))
		readable, err := n.own().await(n.ctx)
		ok(t, err)
		if readable {
			announced++
			if again, _, err := n.own().look(0); !again || err != nil {
				t.Fatalf("the descriptor is readable only once: %v", err)
			}
			for range 200 { // let a goroutine that should not come to it come
				runtime.Gosched()
			}
		}
		ok(t, n.own().watchUntil(n.ctx, n.one[:], func(got []transport.Completion) bool { n.keep(got); return len(got) > 0 }))
		got, err := n.receive()
		ok(t, err)
		if got != (message{0, text(0, k, 1+37*k)}) {
			t.Fatalf("message %d arrived as %d bytes from rank %d", k, len(got.text), got.rank)
		}
	}
	if calls := called.Load(); announced == messages && calls > 0 {
		t.Errorf("Progress was called %d times: a goroutine of the endpoint has taken in what came", calls)
	}
}

// serveWithoutRoom is what a rank does that waits for credit: it polls with no room for
// completions, until the returned function is called.
func (n *node) serveWithoutRoom() (stop func() error) {
	ctx, cancel := context.WithCancel(n.ctx)
	result := make(chan error, 1)
	go func() {
		err := n.own().watchUntil(ctx, nil, func([]transport.Completion) bool { return ctx.Err() != nil })
		if errors.Is(err, errSilent) {
			err = nil // it was stopped
		}
		result <- err
	}()
	return func() error { cancel(); return <-result }
}

// complete does something with an OpID, and watches for its completion.
func (n *node) complete(do func(op transport.OpID) error) error {
	op := n.newOp()
	if err := do(op); err != nil {
		return err
	}
	var found transport.Completion
	err := n.own().watchUntil(n.ctx, n.one[:], func(got []transport.Completion) bool {
		if len(got) > 0 {
			found = got[0]
		}
		return found.Op == op
	})
	if err != nil {
		return fmt.Errorf("operation %d: %w", op, err)
	}
	return found.Err
}

func descriptorAnnouncesCompletions(t *testing.T, nodes []*node) {
	n := nodes[0]
	s, err := n.share(1 << 20) // at itself: nobody else has to do anything
	ok(t, err)
	c := n.conns[0]
	ok(t, n.complete(func(op transport.OpID) error { return c.Put(s.remote, make([]byte, len(s.mem)), op) }))
	for range 20 {
		ok(t, n.complete(func(op transport.OpID) error { return c.FetchAdd(s.remote, 1, nil, op) }))
	}
	if sum := binary.NativeEndian.Uint64(s.mem); sum != 20 {
		t.Errorf("20 additions of 1 make %d", sum)
	}
}

func pollWithoutRoomServes(t *testing.T, nodes []*node) {
	n, target := nodes[0], nodes[1]
	s, err := target.share(1 << 20)
	ok(t, err)
	stop := target.serveWithoutRoom()
	c := n.conns[1]
	for k := range 20 {
		src, dst := pattern(uint64(k), 1<<k), make([]byte, 1<<k)
		ok(t, n.complete(func(op transport.OpID) error { return c.Put(s.remote, src, op) }))
		ok(t, n.complete(func(op transport.OpID) error { return c.Get(dst, s.remote, op) }))
		if string(src) != string(dst) {
			t.Errorf("%d bytes come back changed", len(src))
		}
		ok(t, n.complete(func(op transport.OpID) error { return c.FetchAdd(s.part(0, 8), 1, nil, op) }))
		ok(t, n.complete(c.Flush))
	}
	ok(t, stop())
}

// senderThatPollsGoesOn: Config.Wait polls with no room (Job).
func senderThatPollsGoesOn(t *testing.T, nodes []*node) {
	from, to := nodes[0], nodes[1]
	var sent atomic.Int64
	result := make(chan error, 1)
	go func() { result <- sendMany(from.conns[1], manyMessages, &sent) }()
	ok(t, from.job.AwaitBlocked(from.ctx, 0, 1))
	next := 0
	var buf [16]transport.Completion
	ok(t, to.own().watchUntil(to.ctx, buf[:], func(got []transport.Completion) bool {
		for _, c := range got {
			if m := c.Message; len(m) != 1<<10 || int(m[0])|int(m[1])<<8|int(m[2])<<16 != next {
				t.Errorf("message %d: got %d bytes beginning %x", next, len(m), m[:min(3, len(m))])
			}
			next++
		}
		return next == manyMessages
	}))
	ok(t, outcome(t, from.ctx, result))
}
