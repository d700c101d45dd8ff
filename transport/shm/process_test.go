package shm

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
)

// Two ranks in two processes: rank 0 is the test, rank 1 the test binary run
// again. Each has one segment, a memfd that both have mapped, and tells the other
// its address over a pipe.

const (
	roleVariable = "GOLAUNCH_SHM_TEST_ROLE"
	segmentKey   = 1
	segmentBytes = 4 << 20
	firstFd      = 3 // of the child: the segments of rank 0 and rank 1
	pairPatience = time.Minute
)

// A pair is one of the two processes.
type pair struct {
	rank     int
	segments [2][]byte
	used     int // of the own segment
	ctx      context.Context

	e    *endpoint
	c    transport.Conn // to the other rank
	self transport.Conn
	peer transport.Remote // the shared regions
	own  transport.Remote
}

// openPair opens the endpoint of rank over both segments.
func openPair(ctx context.Context, rank int, files [2]*os.File) (*pair, error) {
	p := &pair{rank: rank, ctx: ctx}
	for i, f := range files {
		m, err := unix.Mmap(int(f.Fd()), 0, segmentBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return nil, err
		}
		p.segments[i] = m
	}
	var err error
	p.e, err = Provider{}.open(transport.Config{
		Rank: rank, Size: 2, Segment: p.segment, Scratch: p.scratch, Ring: func(int) {}, Wait: p.wait,
	})
	return p, err
}

func (p *pair) segment(rank int, key uint64) ([]byte, error) {
	if rank < 0 || rank > 1 || key != segmentKey {
		return nil, transport.ErrKey
	}
	return p.segments[rank], nil
}

// scratch hands out the own segment from the beginning.
func (p *pair) scratch(n int) ([]byte, transport.Remote, error) {
	at := p.used
	p.used += (n + lineBytes - 1) &^ (lineBytes - 1)
	if p.used > segmentBytes {
		return nil, transport.Remote{}, errors.New("the segment is full")
	}
	return p.segments[p.rank][at : at+n : at+n], transport.Remote{Key: segmentKey, Offset: int64(at), Len: int64(n)}, nil
}

// wait has no doorbell: it spins, and lets others run.
func (p *pair) wait(ctx context.Context, _ int, ready func() bool) error {
	for spins := 0; !ready(); spins++ {
		if err := errors.Join(ctx.Err(), p.ctx.Err()); err != nil {
			return err
		}
		p.relax(spins)
	}
	return nil
}

func (p *pair) relax(spins int) {
	if spins%64 == 63 {
		runtime.Gosched()
	}
	if spins%256 == 255 {
		relax.Yield()
	}
}

// meet tells the other rank this one's address and region, and dials it.
func (p *pair) meet(mine transport.Remote, to io.Writer, from *bufio.Reader) error {
	if _, err := fmt.Fprintf(to, "%x %d %d\n", p.e.Addr(), mine.Key, mine.Len); err != nil {
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
	p.own = mine
	if p.self, err = p.e.Dial(p.ctx, p.rank, p.e.Addr()); err != nil {
		return err
	}
	p.c, err = p.e.Dial(p.ctx, 1-p.rank, addr)
	return err
}

// share registers n bytes of the own segment.
func (p *pair) share(n int) (transport.Remote, error) {
	mem, place, err := p.scratch(n)
	if err != nil {
		return transport.Remote{}, err
	}
	r, err := p.e.Register(place.Key, place.Offset, mem)
	if err != nil {
		return transport.Remote{}, err
	}
	return r.Remote(), nil
}

func (p *pair) close() error {
	err := p.e.Close()
	for _, m := range p.segments {
		err = errors.Join(err, unix.Munmap(m))
	}
	return err
}

// pollOne returns the next completion, whose message stays valid.
func (p *pair) pollOne(done []transport.Completion) error {
	for spins := 0; ; spins++ {
		n, err := p.e.Poll(done[:1])
		if n == 1 || err != nil {
			return errors.Join(err, done[0].Err)
		}
		if spins%4096 == 4095 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		p.relax(spins)
	}
}

// startPair starts rank 1 in a role and returns rank 0, connected. The child's
// exit is awaited, and must be a good one, when the test ends.
func startPair(t testing.TB, role string, procs int) *pair {
	t.Helper()
	files := [2]*os.File{newSegment(t, segmentBytes), newSegment(t, segmentBytes)}
	ctx, cancel := context.WithTimeout(context.Background(), pairPatience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, fmt.Sprintf("GOMAXPROCS=%d", procs))
	cmd.ExtraFiles = files[:]
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	check(t, err)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("rank 1: %v", err)
		}
	})
	p, err := openPair(ctx, 0, files)
	check(t, err)
	t.Cleanup(func() { check(t, p.close()) })
	mine, err := p.share(sharedBytes)
	check(t, err)
	check(t, p.meet(mine, stdin, bufio.NewReader(stdout)))
	return p
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newSegment(t testing.TB, n int) *os.File {
	t.Helper()
	fd, err := unix.MemfdCreate("shm-test", unix.MFD_CLOEXEC)
	check(t, err)
	f := os.NewFile(uintptr(fd), "segment")
	t.Cleanup(func() { _ = f.Close() })
	check(t, f.Truncate(int64(n)))
	return f
}

// childMain is rank 1. It ends when its work is done or the parent is gone.
func childMain(role string) int {
	ctx, cancel := context.WithTimeout(context.Background(), pairPatience)
	defer cancel()
	p, err := openPair(ctx, 1, [2]*os.File{os.NewFile(firstFd, "rank 0"), os.NewFile(firstFd+1, "rank 1")})
	if err == nil {
		err = p.child(role, cancel)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "rank 1, %s: %v\n", role, err)
		return 1
	}
	return 0
}

func (p *pair) child(role string, cancel func()) error {
	mine, err := p.share(sharedBytes)
	if err != nil {
		return err
	}
	stdin := bufio.NewReader(os.Stdin)
	if err := p.meet(mine, os.Stdout, stdin); err != nil {
		return err
	}
	var finished atomic.Bool
	go func() { // the pipe ends with the parent
		_, _ = io.Copy(io.Discard, stdin)
		if !finished.Load() {
			cancel()
		}
	}()
	defer finished.Store(true)
	if role == "echo" {
		return p.echo()
	}
	return p.stress()
}
