package group

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/group/exchange"
	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// A cluster is a group whose hosts are memories of this process, with a queue
// from each member to each leader.
type cluster struct {
	t      *testing.T
	hosts  []int // by member
	mems   []*job.Memory
	groups []*Group
	wires  map[[2]int]chan []byte // by sender and receiver
	gone   []atomic.Bool          // by member
	over   chan struct{}          // closed when nothing is delivered any more
	done   sync.WaitGroup
}

const testSpins, testCounts = 100, 1 // cores

func newCluster(t *testing.T, cores int, perHost ...int) *cluster {
	t.Helper()
	c := &cluster{t: t, wires: map[[2]int]chan []byte{}, over: make(chan struct{})}
	var ranks []int
	for host, n := range perHost {
		for range n {
			ranks = append(ranks, len(ranks))
			c.hosts = append(c.hosts, host)
		}
	}
	c.gone = make([]atomic.Bool, len(ranks))
	for host := range perHost {
		mem, err := job.Create(len(ranks), job.Options{Cores: cores, Hosts: c.hosts, Host: host, Extra: Size(len(ranks)), InProcess: true})
		if err != nil {
			t.Fatal(err)
		}
		c.mems = append(c.mems, mem)
	}
	for me, host := range c.hosts {
		w := waiting.New(c.mems[host], me)
		g, err := New(Config{
			What: "test", Area: c.mems[host].Extra(), Me: me, Ranks: ranks, Memory: c.mems[host], Waiter: w,
			Hosts: c.hosts, Link: &testLink{c, me},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.groups = append(c.groups, g)
	}
	for from := range ranks {
		for _, to := range c.groups[from].far.near {
			wire := make(chan []byte, 1000)
			c.wires[[2]int{from, to}] = wire
			c.done.Go(func() { c.deliver(from, to, wire) })
		}
	}
	t.Cleanup(c.close)
	return c
}

// delivering keeps the promise that one message at a time is delivered.
var delivering sync.Mutex

func (c *cluster) deliver(from, to int, wire chan []byte) {
	for {
		select {
		case msg := <-wire:
			delivering.Lock()
			c.groups[to].Deliver(from, msg)
			delivering.Unlock()
		case <-c.over:
			return
		}
	}
}

func (c *cluster) close() {
	close(c.over)
	c.done.Wait()
	for _, g := range c.groups {
		g.waiter.Close()
	}
	for _, mem := range c.mems {
		mem.Close()
	}
}

// report is what the supervisors do.
func (c *cluster) report(rank int, s job.State) {
	for _, mem := range c.mems {
		mem.Report(rank, s, 0)
	}
}

type testLink struct {
	*cluster
	me int
}

func (l *testLink) Send(_ context.Context, member int, buf []byte) error {
	return l.Post(member, buf[LinkRoom:])
}

func (l *testLink) Post(member int, msg []byte) error {
	select {
	case l.wires[[2]int{l.me, member}] <- bytes.Clone(msg):
	case <-l.over:
	}
	return nil
}

func (l *testLink) Failure(member int) error {
	if err := l.mems[l.hosts[l.me]].Failure(member); err != nil {
		return err
	}
	if l.Gone(member) {
		return &job.RankFailedError{Rank: member, Cause: "it has hung up"}
	}
	return nil
}

func (l *testLink) Gone(member int) bool { return l.gone[member].Load() }

// each runs body for every member at once and waits for all.
func (c *cluster) each(body func(g *Group) error) {
	c.t.Helper()
	results := make(chan error, len(c.groups))
	for me, g := range c.groups {
		go func() {
			if err := body(g); err != nil {
				results <- fmt.Errorf("member %d: %w", me, err)
				return
			}
			results <- nil
		}()
	}
	for range c.groups {
		select {
		case err := <-results:
			if err != nil {
				c.t.Error(err)
			}
		case <-time.After(30 * time.Second):
			c.t.Fatal("a member hangs")
		}
	}
}

// On the last two, hosts pass on what they hear.
var clusters = [][]int{{1, 1}, {2, 1}, {2, 3}, {1, 1, 1}, {2, 2, 2}, {4, 4}, {1, 1, 1, 1, 1, 1, 1}, {2, 1, 1, 2, 1, 1}}

// across runs a test on clusters of several shapes.
func onClusters(t *testing.T, body func(t *testing.T, c *cluster)) {
	for _, perHost := range clusters {
		for name, cores := range map[string]int{"spinning": testSpins, "counting": testCounts} {
			t.Run(fmt.Sprintf("%v %s", perHost, name), func(t *testing.T) { body(t, newCluster(t, cores, perHost...)) })
		}
	}
}

func TestRoundsAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error { return rounds(t.Context(), g, 300) })
	})
}

func TestPayloadsOfAllLengthsAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error {
			for _, n := range []int{0, 1, 55, 112, 113, 1000, 4000, MaxPayload} {
				g.Publish(3, bytes.Repeat([]byte{byte(g.Me() + 1)}, n))
				if err := g.WaitAll(t.Context()); err != nil {
					return err
				}
				for m := range g.Size() {
					if got := g.Payload(m); !bytes.Equal(got, bytes.Repeat([]byte{byte(m + 1)}, n)) {
						return fmt.Errorf("%d bytes of member %d arrived as %d", n, m, len(got))
					}
				}
			}
			return nil
		})
	})
}

func TestLeavingAfterTheRoundIsNoFailureAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error {
			if err := rounds(t.Context(), g, 30); err != nil {
				return err
			}
			c.report(g.Me(), job.Left)
			return nil
		})
	})
}

func TestMismatchAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error {
			signature := uint32(5)
			if g.Me() == 0 {
				signature = 6
			}
			g.Publish(signature, nil)
			var mismatch *MismatchError
			if err := g.WaitAll(t.Context()); !errors.As(err, &mismatch) || mismatch.Mine != signature {
				return fmt.Errorf("%v, want a mismatch", err)
			}
			return nil
		})
	})
}

// Whichever member breaks the group: everybody hears why, on every host.
func TestBreakAcrossHosts(t *testing.T) {
	for _, perHost := range [][]int{{2, 2}, {1, 1, 1, 1, 1, 1, 2}} {
		for _, cores := range []int{testSpins, testCounts} {
			for breaker := range newCluster(t, cores, perHost...).groups {
				breakAcross(t, newCluster(t, cores, perHost...), breaker)
			}
		}
	}
}

func breakAcross(t *testing.T, c *cluster, breaker int) {
	c.each(func(g *Group) error {
		if g.Me() == breaker {
			g.Break("Barrier", errors.New("had enough"))
		} else {
			g.Publish(1, nil)
			var broken *BrokenError
			if err := g.WaitAll(t.Context()); !errors.As(err, &broken) {
				return fmt.Errorf("%v, want a BrokenError", err)
			}
		}
		want := fmt.Sprintf("test is broken since rank %d gave up Barrier: had enough", breaker)
		if err := g.Broken(); err == nil || err.Error() != want {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	})
}

func TestEverybodyBreaksAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error {
			g.Break("Barrier", errors.New("all at once"))
			if g.Broken() == nil {
				return errors.New("not broken after Break")
			}
			return nil
		})
	})
}

// Whichever member fails: the others' waits end, either by themselves or because
// one of them has broken the group.
func TestFailureAcrossHosts(t *testing.T) {
	for _, perHost := range [][]int{{2, 2}, {1, 1, 1, 1, 1, 1, 1}} {
		for _, how := range []job.State{job.Failed, job.Exited, job.Left} {
			for _, cores := range []int{testSpins, testCounts} {
				for failing := range newCluster(t, cores, perHost...).groups {
					failAcross(t, newCluster(t, cores, perHost...), failing, how)
				}
			}
		}
	}
}

func failAcross(t *testing.T, c *cluster, failing int, how job.State) {
	c.each(func(g *Group) error {
		if g.Me() == failing {
			c.report(failing, how)
			c.gone[failing].Store(true)
			for _, other := range c.groups {
				other.waiter.Wake() // as the router does
			}
			return nil
		}
		g.Publish(1, nil)
		err := g.WaitAll(t.Context())
		var failed *job.RankFailedError
		if !errors.As(err, &failed) || failed.Rank != failing {
			return fmt.Errorf("%v: %v, want the failure of rank %d", how, err, failing)
		}
		g.Break("Barrier", err)
		return nil
	})
}

// A round that a leader has sent counts, though it is known to have left before
// what it sent arrives.
func TestNewsOvertakesTheMessage(t *testing.T) {
	c := newCluster(t, testSpins, 1, 1)
	g0, g1 := c.groups[0], c.groups[1]
	delivering.Lock() // nothing arrives
	g1.Publish(1, []byte("late"))
	if err := g1.far.tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.report(1, job.Left)
	g0.Publish(1, nil)
	if err := g0.far.err(); err != nil {
		t.Errorf("too early: %v", err)
	}
	delivering.Unlock()
	if err := g0.WaitAll(deadline(t)); err != nil || string(g0.Payload(1)) != "late" {
		t.Errorf("%q, %v", g0.Payload(1), err)
	}
	g0.Publish(1, nil)
	c.gone[1].Store(true)
	var failed *job.RankFailedError
	if err := g0.WaitAll(deadline(t)); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Errorf("%v, want the failure of rank 1", err)
	}
}

func TestNonsenseFromAnotherHostBreaksTheGroup(t *testing.T) {
	stranger := exchange.Verdict{Member: 0, Op: "x"}.Encode() // of a member of the receiver's host
	unknown := exchange.Verdict{Member: 7, Op: "x"}.Encode()
	for want, send := range map[string]struct {
		from int
		msg  []byte
	}{
		"malformed message: 5 bytes":            {2, []byte("hello")},
		"it leads no host":                      {3, []byte("hello")},
		"speaks for member 0 of another host":   {2, stranger},
		"speaks for member 7 of another host":   {2, unknown},
		"it is no member of test on another":    {1, unknown},
		"is no member of test on another host":  {99, unknown},
		"malformed message: 4 bytes are no bre": {2, []byte{2, 0, 0, 0}},
	} {
		c := newCluster(t, testSpins, 2, 2)
		c.groups[0].Deliver(send.from, send.msg)
		if err := c.groups[1].Broken(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestRetireAcrossHosts(t *testing.T) {
	onClusters(t, func(t *testing.T, c *cluster) {
		c.each(func(g *Group) error {
			if err := rounds(t.Context(), g, 5); err != nil {
				return err
			}
			return g.Retire(t.Context(), g.far.leader)
		})
	})
}

func TestNewRefusesHosts(t *testing.T) {
	c := newCluster(t, testSpins, 1, 1)
	cfg := Config{What: "test", Area: c.mems[0].Extra(), Ranks: []int{0, 1}, Memory: c.mems[0], Waiter: c.groups[0].waiter}
	for name, change := range map[string]func(){
		"no link":       func() { cfg.Hosts, cfg.Link = []int{0, 1}, nil },
		"too few hosts": func() { cfg.Hosts, cfg.Link = []int{0}, &testLink{c, 0} },
	} {
		change()
		if _, err := New(cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestRoundsAcrossHostsAllocateNothing(t *testing.T) {
	c := newCluster(t, testSpins, 1, 1)
	g := c.groups[0]
	g.far.link = nullLink{}
	ctx := t.Context()
	var payload [8]byte
	reply := exchange.Begin(make([]byte, 0, 100), 0)
	if n := testing.AllocsPerRun(1000, func() {
		g.Publish(1, payload[:])
		msg := exchange.Begin(reply.Bytes()[:0:100], g.round)
		msg.Add(1, 1, payload[:], 0)
		g.Deliver(1, msg.Bytes())
		if err := g.WaitAll(ctx); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

type nullLink struct{}

func (nullLink) Send(context.Context, int, []byte) error { return nil }
func (nullLink) Post(int, []byte) error                  { return nil }
func (nullLink) Failure(int) error                       { return nil }
func (nullLink) Gone(int) bool                           { return false }

// FuzzDeliver: whatever arrives, the group breaks or goes on, and nothing of its
// own host's members changes.
func FuzzDeliver(f *testing.F) {
	msg := exchange.Begin(make([]byte, 0, 200), 1)
	msg.Add(1, 1, []byte("hello"), 0)
	f.Add(1, msg.Bytes())
	f.Add(1, exchange.Verdict{Member: 1, Failed: 0, Op: "Barrier", Cause: "why"}.Encode())
	f.Fuzz(func(t *testing.T, from int, msg []byte) {
		mem, err := job.Create(2, job.Options{Cores: 2, Hosts: []int{0, 1}, Extra: Size(2), InProcess: true})
		if err != nil {
			t.Fatal(err)
		}
		defer mem.Close()
		w := waiting.New(mem, 0)
		defer w.Close()
		g, err := New(Config{
			What: "test", Area: mem.Extra(), Ranks: []int{0, 1}, Memory: mem, Waiter: w, Hosts: []int{0, 1}, Link: nullLink{},
		})
		if err != nil {
			t.Fatal(err)
		}
		g.Publish(9, []byte("mine"))
		g.Deliver(from, msg)
		if err := g.Broken(); err != nil && err.Error() == "" {
			t.Error("a break without words")
		}
		if head := g.own[1].head.Load(); head != 1<<32|9 || string(g.own[1].payload()) != "mine" {
			t.Errorf("head %#x, payload %q", head, g.own[1].payload())
		}
		if binary.LittleEndian.Uint64(mem.Extra()[doneAt:]) != 0 {
			t.Error("the round is over although nothing was sent")
		}
	})
}
