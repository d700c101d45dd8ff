package tcp

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
)

// TestKilledPeer: the other process is killed in the middle of a long Put, and of
// a long Get.
func TestKilledPeer(t *testing.T) {
	for _, what := range []string{"Put", "Get"} {
		t.Run(what, func(t *testing.T) {
			p, c := startLoosePair(t, "serve", 2, loopback())
			buffer := make([]byte, sharedBytes)
			operate := func() error {
				if what == "Put" {
					return p.await(1, p.c.Put(p.peer, buffer, 1))
				}
				return p.await(1, p.c.Get(buffer, p.peer, 1))
			}
			for range 3 {
				check(t, operate())
			}
			go func() { check(t, c.cmd.Process.Kill()) }()
			var err error
			for start := time.Now(); err == nil && time.Since(start) < pairPatience; {
				err = operate()
			}
			if !errors.Is(err, transport.ErrPeerFailed) {
				t.Errorf("%s: %v", what, err)
			}
			_ = c.cmd.Wait()
			check(t, p.e.Close())
		})
	}
}

// TestStoppedPeer: the other process is stopped. Its kernel goes on, so a small
// Put is taken, and never answered.
func TestStoppedPeer(t *testing.T) {
	provider := loopback()
	provider.Timeout = time.Second
	p, c := startLoosePair(t, "serve", 2, provider)
	check(t, p.await(1, p.c.Put(p.peer, make([]byte, 8), 1)))
	check(t, c.cmd.Process.Signal(unix.SIGSTOP))
	start := time.Now()
	var err error
	for err == nil && time.Since(start) < pairPatience { // it may serve a few until it is stopped
		err = p.await(2, p.c.Put(p.peer, make([]byte, 8), 2))
	}
	if !errors.Is(err, transport.ErrPeerFailed) {
		t.Errorf("Put: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	check(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	check(t, p.e.Close())
}

// TestGoodbye: when the other rank closes, operations end with ErrClosed, not as
// if it had failed.
func TestGoodbye(t *testing.T) {
	p, c := startLoosePair(t, "stress", 2, loopback())
	check(t, p.stress())
	var err error
	for start := time.Now(); err == nil && time.Since(start) < pairPatience; {
		err = p.await(1, p.c.Put(p.peer, make([]byte, 8), 1))
	}
	if !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Put: %v", err)
	}
	check(t, c.cmd.Wait())
	check(t, p.e.Close())
}

// TestSteadyStateAllocatesNothing: neither short operations nor long ones, that
// wait for the socket.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	p := startPair(t, "serve", 2)
	buffer, old := make([]byte, 4<<20), new(uint64)
	for name, operate := range map[string]func() error{
		"Put 8 B and Flush": func() error {
			if err := p.c.Put(p.peer, buffer[:8], 0); err != nil {
				return err
			}
			return p.await(1, p.c.Flush(1))
		},
		"Put 4 MiB": func() error { return p.await(1, p.c.Put(p.peer, buffer, 1)) },
		"Get 8 B":   func() error { return p.await(1, p.c.Get(buffer[:8], p.peer, 1)) },
		"Get 4 MiB": func() error { return p.await(1, p.c.Get(buffer, p.peer, 1)) },
		"FetchAdd":  func() error { return p.await(1, p.c.FetchAdd(p.peer, 1, old, 1)) },
		"Send":      func() error { return p.await(0, p.c.Send(buffer[:64])) },
	} {
		for range 10 {
			check(t, operate())
		}
		if allocs := testing.AllocsPerRun(50, func() { check(t, operate()) }); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}
