//go:build cgo && linux

package verbs

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

const (
	// guestVariable says which of two guests this is, 1 or 2; see guest/guest.sh.
	guestVariable = "GOLAUNCH_VERBS_GUEST"
	// roleVariable makes this binary a rank of a test that another process runs: the
	// role and, behind a blank, where the test listens.
	roleVariable = "GOLAUNCH_VERBS_ROLE"
	guestAddress = "10.9.0.1:7707"
	patience     = 60 * time.Second
)

// A rank is one process's end of a job of two, and the way on which the two tell each
// other what they need to know.
type rank struct {
	endpoint transport.Endpoint
	conn     transport.Conn
	mem      []byte           // registered
	far      transport.Remote // the other's
	in       *gob.Decoder
	out      *gob.Encoder
	side     net.Conn
	job      *transporttest.Job
	one      [1]transport.Completion
}

// A card is what the ranks tell each other.
type card struct {
	Address []byte
	Remote  transport.Remote
}

const rankMemory = 8 << 20

// join opens the endpoint of one of the two and connects it to the other.
func join(number int, side net.Conn, loopback bool) (r *rank, err error) {
	p := Provider{Secret: make([]byte, 32), Job: "test", Version: "test 1", Loopback: loopback}
	r = &rank{side: side, in: gob.NewDecoder(side), out: gob.NewEncoder(side), job: transporttest.NewJob(2, nil)}
	r.mem = make([]byte, rankMemory)
	cfg := r.job.Config(number)
	cfg.Wait = r.wait
	if r.endpoint, err = p.Open(cfg); err != nil {
		return nil, err
	}
	region, err := r.endpoint.Register(0, 0, r.mem)
	if err != nil {
		return nil, err
	}
	if err := r.out.Encode(card{r.endpoint.Addr(), region.Remote()}); err != nil {
		return nil, err
	}
	var other card
	if err := r.in.Decode(&other); err != nil {
		return nil, err
	}
	r.far = other.Remote
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r.conn, err = r.endpoint.Dial(ctx, 1-number, other.Address); err != nil {
		return nil, err
	}
	if err := r.out.Encode(card{}); err != nil { // both have dialled when join returns
		return nil, err
	}
	return r, r.in.Decode(&card{})
}

// wait is Config.Wait of a rank that has a core of its own: it polls.
func (r *rank) wait(ctx context.Context, _ int, ready func() bool) error {
	for !ready() {
		if _, err := r.endpoint.Poll(nil); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// next polls until something comes, and returns it. The clock is looked at rarely:
// what is measured is not the clock.
func (r *rank) next() (transport.Completion, error) {
	end := time.Now().Add(patience)
	for k := 1; k%1024 != 0 || time.Now().Before(end); k++ {
		n, err := r.endpoint.Poll(r.one[:])
		if n > 0 || err != nil {
			return r.one[0], err
		}
	}
	return transport.Completion{}, errors.New("nothing has come")
}

// done polls until op has ended.
func (r *rank) done(op transport.OpID, err error) error {
	if err != nil {
		return err
	}
	c, err := r.next()
	if err == nil && c.Op != op {
		err = fmt.Errorf("%+v came instead of operation %d", c, op)
	}
	return errors.Join(err, c.Err)
}

// echo is the other rank: it sends every message back until there are no more.
func (r *rank) echo() error {
	for {
		c, err := r.next()
		switch {
		case err != nil:
			return err
		case c.Err != nil:
			if errors.Is(c.Err, transport.ErrClosed) {
				return r.endpoint.Close()
			}
			return c.Err
		}
		if err := r.conn.Send(c.Message); err != nil {
			return err
		}
	}
}

// exercise is what rank 0 does with the other, which echoes.
func (r *rank) exercise() error {
	const size = 5<<20 + 3
	want := bytes.Repeat([]byte("golaunch"), size/8+1)[:size]
	copy(r.mem, want)
	far, err := r.far.Slice(8, size)
	if err != nil {
		return err
	}
	got := make([]byte, size)
	for _, src := range [][]byte{r.mem[:size], want} { // registered and not
		if err := r.done(1, r.conn.Put(far, src, 1)); err != nil {
			return err
		}
		if err := r.done(2, r.conn.Get(got, far, 2)); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return errors.New("Get does not return what Put wrote")
		}
		clear(got)
	}
	word, err := r.far.Slice(rankMemory-8, 8)
	if err != nil {
		return err
	}
	for k := range uint64(100) {
		old := ^uint64(0)
		if err := r.done(3, r.conn.FetchAdd(word, 1, &old, 3)); err != nil || old != k {
			return fmt.Errorf("FetchAdd found %d, want %d: %w", old, k, err)
		}
	}
	for k := range 200 {
		msg := want[:k*transport.MaxMessage/199]
		if err := r.conn.Send(msg); err != nil {
			return err
		}
		c, err := r.next()
		if err != nil || c.Err != nil || !bytes.Equal(c.Message, msg) {
			return fmt.Errorf("message %d: %+v came back: %w", k, c, err)
		}
	}
	return nil
}

// TestTwoGuests is one rank in each of two guests, which share nothing but a network.
func TestTwoGuests(t *testing.T) {
	switch os.Getenv(guestVariable) {
	case "1":
		l, err := net.Listen("tcp", guestAddress)
		check(t, err)
		defer func() { check(t, l.Close()) }()
		side, err := l.Accept()
		check(t, err)
		r, err := join(0, side, false)
		check(t, err)
		check(t, r.exercise())
		check(t, r.endpoint.Close())
	case "2":
		r, err := join(1, reach(t, guestAddress), false)
		check(t, err)
		check(t, r.echo())
	default:
		t.Skip("make verbs-test runs this in two guests")
	}
}

// reach connects to a process that may not listen yet.
func reach(t testing.TB, address string) net.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		side, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return side
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

// roles are what this binary does as another process of a test.
var roles = map[string]func(*rank) error{
	"echo": (*rank).echo,
	"wait": func(r *rank) error { return r.in.Decode(new(card)) }, // until it is killed
	"pong": (*rank).pong,
}

// roleMain is the other process.
func roleMain(text string) error {
	role, address, _ := strings.Cut(text, " ")
	side, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	r, err := join(1, side, true)
	if err != nil {
		return err
	}
	return roles[role](r)
}

// with starts another process in a role and returns this one's rank.
func with(t testing.TB, role string) (*rank, *exec.Cmd) {
	t.Helper()
	provider(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer func() { check(t, l.Close()) }()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role+" "+l.Addr().String())
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	check(t, cmd.Start())
	side, err := l.Accept()
	check(t, err)
	r, err := join(0, side, true)
	check(t, err)
	return r, cmd
}

func TestTwoProcesses(t *testing.T) {
	r, other := with(t, "echo")
	check(t, r.exercise())
	check(t, r.endpoint.Close())
	check(t, other.Wait())
}

// TestPeerDies: its rank is named, by what is under way and by what is begun later, and
// Poll says that nothing more will come.
func TestPeerDies(t *testing.T) {
	r, other := with(t, "wait")
	check(t, r.done(1, r.conn.Put(r.far, make([]byte, 8), 1)))
	check(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	var err error
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); {
		err = r.conn.Put(r.far, make([]byte, 8), 0)
		_, pollErr := r.endpoint.Poll(r.one[:])
		check(t, pollErr)
	}
	if !errors.Is(err, transport.ErrPeerFailed) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("Put to a rank that has died: %v", err)
	}
	for r.one[0].Err == nil {
		_, err := r.next()
		check(t, err)
	}
	if c := r.one[0]; c.Rank != 1 || c.Op != 0 || !errors.Is(c.Err, transport.ErrPeerFailed) {
		t.Errorf("Poll says %+v", c)
	}
	check(t, r.endpoint.Close())
}
