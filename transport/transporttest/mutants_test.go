package transporttest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// A mutant is a transport with one mistake, and the rule of the suite that must
// find it.
type mutant struct {
	rule     string
	endpoint func(transport.Endpoint) transport.Endpoint
}

var mutants = map[string]mutant{
	"loses messages": {"messages_arrive_in_the_order", onConn(func(c transport.Conn) transport.Conn {
		return &losesMessages{Conn: c}
	})},
	"writes one byte less": {"Get_returns_what_Put_wrote", onConn(func(c transport.Conn) transport.Conn {
		return writesLess{c}
	})},
	"swallows errors": {"what_lies_outside", onConn(func(c transport.Conn) transport.Conn { return swallowsErrors{c} })},
	"adds in two steps": {"FetchAdd_from_many_origins", onConn(func(c transport.Conn) transport.Conn {
		return addsInTwoSteps{c}
	})},
	"lets messages overtake Puts": {"a_Send_is_delivered_behind", onConn(func(c transport.Conn) transport.Conn {
		return &overtakesPuts{Conn: c}
	})},
	"completes twice": {"every_operation_and_every_Flush", func(e transport.Endpoint) transport.Endpoint {
		return &completesTwice{Endpoint: e}
	}},
	"forgets the rank": {"every_operation_and_every_Flush", func(e transport.Endpoint) transport.Endpoint {
		return forgetsRank{e}
	}},
	"allocates": {"steady", func(e transport.Endpoint) transport.Endpoint { return &allocates{Endpoint: e} }},
	"delivers nil for an empty message": {"a_message_is_never_nil", func(e transport.Endpoint) transport.Endpoint {
		return deliversNil{e}
	}},
}

const mutantVariable = "GOLAUNCH_TEST_MUTANT"

// TestSuiteFindsMistakes runs the suite over each mutant in a process of its own,
// where it must fail.
func TestSuiteFindsMistakes(t *testing.T) {
	maps.Copy(mutants, sideMutants)
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for what does not happen
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMutant$/^"+m.rule, "-test.v")
			cmd.Env = append(os.Environ(), mutantVariable+"="+name, "GOLAUNCH_TEST_PATIENCE=2s")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestMutant/"+m.rule) {
				t.Errorf("the suite did not find it: %v\n%s", err, out)
			}
		})
	}
}

// TestMutant is the suite over one mutant; on its own, over none, it passes.
func TestMutant(t *testing.T) {
	maps.Copy(mutants, sideMutants)
	m, chosen := mutants[os.Getenv(mutantVariable)]
	if !chosen {
		m.endpoint = func(e transport.Endpoint) transport.Endpoint { return e }
	}
	transporttest.Run(t, func(t testing.TB, size int) *transporttest.World {
		return transporttest.NewWorld(t, mutated{transporttest.NewReference(), m}, size)
	})
	t.Run("watched", func(t *testing.T) {
		transporttest.RunWatched(t, func(t testing.TB, size int) *transporttest.World {
			return transporttest.NewWorld(t, mutated{transporttest.NewReference(), m}, size, transporttest.Watching())
		})
	})
}

type mutated struct {
	transport.Provider
	mutant mutant
}

func (p mutated) Open(cfg transport.Config) (transport.Endpoint, error) {
	e, err := p.Provider.Open(cfg)
	if err != nil {
		return nil, err
	}
	if p.mutant.rule == pollsItself {
		go pollItself(cfg, e)
	}
	return p.mutant.endpoint(e), nil
}

// onConn makes an endpoint of a mutation of connections.
func onConn(mutate func(transport.Conn) transport.Conn) func(transport.Endpoint) transport.Endpoint {
	return func(e transport.Endpoint) transport.Endpoint { return mutatedConns{e, mutate} }
}

type mutatedConns struct {
	transport.Endpoint
	mutate func(transport.Conn) transport.Conn
}

func (e mutatedConns) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	c, err := e.Endpoint.Dial(ctx, rank, addr)
	if err != nil {
		return nil, err
	}
	return e.mutate(c), nil
}

type losesMessages struct {
	transport.Conn
	sent int
}

func (c *losesMessages) Send(msg []byte) error {
	if c.sent++; c.sent == 1000 {
		return nil
	}
	return c.Conn.Send(msg)
}

type writesLess struct{ transport.Conn }

func (c writesLess) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	return c.Conn.Put(dst, src[:max(0, len(src)-1)], op)
}

type swallowsErrors struct{ transport.Conn }

func (c swallowsErrors) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	if c.Conn.Put(dst, src, op) != nil {
		return c.Conn.Flush(op)
	}
	return nil
}

type addsInTwoSteps struct{ transport.Conn }

func (c addsInTwoSteps) FetchAdd(dst transport.Remote, delta uint64, old *uint64, op transport.OpID) error {
	var word [8]byte
	if err := c.Conn.Get(word[:], dst, 0); err != nil {
		return err
	}
	*old = binary.NativeEndian.Uint64(word[:])
	runtime.Gosched() // give the others their chance
	binary.NativeEndian.PutUint64(word[:], *old+delta)
	return c.Conn.Put(dst, word[:], op)
}

// overtakesPuts holds each Put without OpID back until the next one.
type overtakesPuts struct {
	transport.Conn
	later func() error
}

func (c *overtakesPuts) Put(dst transport.Remote, src []byte, op transport.OpID) error {
	earlier := c.later
	c.later = func() error { return c.Conn.Put(dst, src, op) }
	if earlier == nil {
		return nil
	}
	return earlier()
}

type completesTwice struct {
	transport.Endpoint
	last  transport.Completion
	count int
}

func (e *completesTwice) Poll(done []transport.Completion) (int, error) {
	if e.count > 0 && e.count%7 == 0 && len(done) > 0 {
		e.count++
		done[0] = e.last
		return 1, nil
	}
	n, err := e.Endpoint.Poll(done)
	if n > 0 && done[n-1].Op != 0 {
		e.last, e.count = done[n-1], e.count+1
	}
	return n, err
}

type forgetsRank struct{ transport.Endpoint }

func (e forgetsRank) Poll(done []transport.Completion) (int, error) {
	n, err := e.Endpoint.Poll(done)
	for i := range done[:n] {
		done[i].Rank = 0
	}
	return n, err
}

type allocates struct {
	transport.Endpoint
	kept []byte
}

func (e *allocates) Poll(done []transport.Completion) (int, error) {
	e.kept = make([]byte, 1)
	return e.Endpoint.Poll(done)
}

type deliversNil struct{ transport.Endpoint }

func (e deliversNil) Poll(done []transport.Completion) (int, error) {
	n, err := e.Endpoint.Poll(done)
	for i := range done[:n] {
		if len(done[i].Message) == 0 {
			done[i].Message = nil
		}
	}
	return n, err
}
