package tcp

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// Two ranks in two processes: rank 0 is the test, rank 1 the test binary run
// again. Each tells the other its address and region over a pipe.

const (
	roleVariable = "GOLAUNCH_TCP_TEST_ROLE"
	sharedBytes  = 16 << 20
	pairPatience = time.Minute
)

// A pair is one of the two processes.
type pair struct {
	rank int
	ctx  context.Context
	e    *endpoint
	c    transport.Conn // to the other rank
	mem  []byte         // the own region
	own  transport.Remote
	peer transport.Remote

	polling atomic.Bool // some goroutine polls; else wait does
	done    [64]transport.Completion
	kept    []transport.Completion // what wait has polled
	rung    chan struct{}
}

// openPair opens the endpoint of rank. wait spins: nobody else wants the cores in
// a test of speed.
func openPair(ctx context.Context, rank int, p Provider) (*pair, error) {
	r := &pair{rank: rank, ctx: ctx, mem: make([]byte, sharedBytes), rung: make(chan struct{}, 1)}
	context.AfterFunc(ctx, r.ring)
	var err error
	r.e, err = p.open(transport.Config{Rank: rank, Size: 2, Ring: func(int) { r.ring() }, Wait: r.wait})
	if err != nil {
		return nil, err
	}
	region, err := r.e.Register(0, 0, r.mem)
	if err != nil {
		return nil, err
	}
	r.own = region.Remote()
	return r, nil
}

func (p *pair) ring() {
	select {
	case p.rung <- struct{}{}:
	default:
	}
}

// wait polls, if nobody else does.
func (p *pair) wait(ctx context.Context, _ int, ready func() bool) error {
	for spins := 0; !ready(); spins++ {
		if err := errors.Join(ctx.Err(), p.ctx.Err()); err != nil {
			return err
		}
		if !p.polling.Load() && len(p.kept) < cap(p.done) {
			n, err := p.e.Poll(p.done[:])
			if err != nil {
				return err
			}
			p.kept = append(p.kept, p.done[:n]...)
		}
		p.relax(spins)
	}
	return nil
}

func (p *pair) relax(spins int) {
	if spins%64 == 63 {
		runtime.Gosched()
	}
	if spins%1024 == 1023 {
		relax.Yield()
	}
}

// next returns the next completion, whose message stays valid.
func (p *pair) next() (transport.Completion, error) {
	if len(p.kept) > 0 {
		c := p.kept[0]
		p.kept = p.kept[:copy(p.kept, p.kept[1:])]
		return c, c.Err
	}
	for spins := 0; ; spins++ {
		n, err := p.e.Poll(p.done[:1])
		if n == 1 || err != nil {
			return p.done[0], errors.Join(err, p.done[0].Err)
		}
		if spins%4096 == 4095 && p.ctx.Err() != nil {
			return transport.Completion{}, p.ctx.Err()
		}
		p.relax(spins)
	}
}

// meet tells the other rank this one's address and region. Rank 0 dials.
func (p *pair) meet(to io.Writer, from *bufio.Reader) error {
	if _, err := fmt.Fprintf(to, "%x %d %d\n", p.e.Addr(), p.own.Key, p.own.Len); err != nil {
		return err
	}
	line, err := from.ReadString('\n')
	if err != nil {
		return err
	}
	var text string
	if _, err := fmt.Sscan(strings.TrimSpace(line), &text, &p.peer.Key, &p.peer.Len); err != nil {
		return err
	}
	addr, err := hex.DecodeString(text)
	if err != nil {
		return err
	}
	p.c, err = p.e.Dial(p.ctx, 1-p.rank, addr)
	return err
}

// A child is rank 1 as rank 0 sees it.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startChild starts the test binary in a role.
func startChild(t testing.TB, ctx context.Context, role string, procs int) *child {
	t.Helper()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, fmt.Sprintf("GOMAXPROCS=%d", procs))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	return &child{cmd, stdin, bufio.NewReader(stdout)}
}

// startPair starts rank 1 in a role and returns rank 0, connected. The child's
// exit is awaited, and must be a good one, when the test ends.
func startPair(t testing.TB, role string, procs int) *pair {
	t.Helper()
	p, c := startLoosePair(t, role, procs, loopback())
	t.Cleanup(func() {
		check(t, p.e.Close())
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("rank 1: %v", err)
		}
	})
	return p
}

// startLoosePair leaves closing and waiting to the test.
func startLoosePair(t testing.TB, role string, procs int, provider Provider) (*pair, *child) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), pairPatience)
	t.Cleanup(cancel)
	c := startChild(t, ctx, role, procs)
	p, err := openPair(ctx, 0, provider)
	check(t, err)
	check(t, p.meet(c.in, c.out))
	return p, c
}

// childMain is rank 1. It ends when its work is done or the parent is gone.
func childMain(role string) int {
	ctx, cancel := context.WithTimeout(context.Background(), pairPatience)
	defer cancel()
	if err := child1(ctx, cancel, role); err != nil {
		fmt.Fprintf(os.Stderr, "rank 1, %s: %v\n", role, err)
		return 1
	}
	return 0
}

func child1(ctx context.Context, cancel func(), role string) error {
	switch role {
	case "bare":
		return bareEcho()
	case "crowd":
		return crowd(ctx)
	}
	provider := loopback()
	if role == "encrypted serve" {
		provider.Encrypt = true
	}
	p, err := openPair(ctx, 1, provider)
	if err != nil {
		return err
	}
	stdin := bufio.NewReader(os.Stdin)
	if err := p.meet(os.Stdout, stdin); err != nil {
		return err
	}
	go func() { // the pipe ends with the parent
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	switch role {
	case "stress":
		return errors.Join(p.stress(), p.e.Close())
	case "idle":
		<-p.ended()
		return nil
	case "busy":
		return p.compute()
	}
	return p.serve(role == "exchange")
}

// ended is closed when the other rank has closed its endpoint or is gone.
func (p *pair) ended() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p.e.peerAt(1-p.rank).end() == nil && p.ctx.Err() == nil {
			runtime.Gosched()
			_, _ = unix.Poll(nil, 1)
		}
	}()
	return ended
}

// compute keeps one core busy, bound to it, and never calls anything.
func (p *pair) compute() error {
	if err := transporttest.Bind(os.Getpid(), 1); err != nil {
		return err
	}
	over := p.ended()
	var stop atomic.Bool
	go func() {
		<-over
		stop.Store(true)
	}()
	for n := 0; !stop.Load(); n++ {
		for range 1 << 20 {
			n ^= n << 1
		}
	}
	return nil
}

// asleepAfter is how long serve polls although nothing comes.
const asleepAfter = time.Millisecond

// serve polls and sends every message back, until the other rank says goodbye. It
// sleeps when nothing comes any more, so as not to disturb measurements of other
// things. With ahead it answers the first one twice: then each answer is under way
// when its message comes.
func (p *pair) serve(ahead bool) error {
	last, bytes := time.Now(), &p.e.peerAt(1-p.rank).rx.bytes
	for spins, before := 0, uint64(0); ; spins++ {
		n, err := p.e.Poll(p.done[:1])
		switch {
		case err != nil || p.ctx.Err() != nil:
			return err
		case n == 1 && p.done[0].Message == nil:
			return unexpected(p.done[0])
		case n == 1:
			if ahead {
				ahead, err = false, p.c.Send(p.done[0].Message)
			}
			if err = errors.Join(err, p.c.Send(p.done[0].Message)); err != nil {
				return err
			}
		case spins%64 == 0:
			if now := bytes.Load(); now != before {
				before, last = now, time.Now()
			} else if time.Since(last) > asleepAfter {
				p.e.Rest()
				<-p.rung
				last = time.Now()
			}
		}
	}
}

func unexpected(c transport.Completion) error {
	if errors.Is(c.Err, transport.ErrClosed) {
		return nil
	}
	return fmt.Errorf("unexpected %+v", c)
}
