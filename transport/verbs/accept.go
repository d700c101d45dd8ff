//go:build cgo && linux

package verbs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// accept is the goroutine that lets peers arrange connections.
func (e *endpoint) accept() {
	defer e.running.Done()
	for {
		side, rank, err := e.listener.Accept()
		if err != nil {
			return
		}
		if rank < 0 || rank >= e.cfg.Size || rank == e.cfg.Rank || !e.begin(func() { e.serve(side, rank) }) {
			_ = side.Close()
		}
	}
}

// serve is the goroutine of one connection to this rank. What goes wrong before the
// peer is ready, the peer says.
func (e *endpoint) serve(side net.Conn, rank int) {
	stop := context.AfterFunc(e.ctx, func() { _ = side.Close() })
	t, err := e.welcome(side, rank)
	if !stop() || err != nil {
		_ = side.Close()
	}
	if err != nil {
		return
	}
	end := hearEnd(side)
	e.harvestArmed() // what it has sent before has arrived before
	t.end(end)
	e.retireTarget(t)
	e.tell()
}

// welcome is the listener's part of what arrange does.
func (e *endpoint) welcome(side net.Conn, rank int) (t *target, err error) {
	if err := side.SetDeadline(time.Now().Add(e.me.Timeout)); err != nil {
		return nil, err
	}
	t = &target{e: e, rank: rank, side: side}
	if t.peer, err = hear(side); err != nil {
		return nil, err
	}
	if err := e.admit(t); err != nil {
		return nil, err
	}
	if err := t.agree(); err != nil {
		e.retireTarget(t)
		return nil, err
	}
	return t, nil
}

func (t *target) agree() error {
	own := t.e.greeting(t.pair, t.e.directory.memory, t.credits)
	if err := t.pair.connect(own, t.peer); err != nil {
		return err
	}
	if _, err := t.side.Write(own.encode()); err != nil {
		return err
	}
	if err := hearWord(t.side, ready); err != nil {
		return err
	}
	t.e.enter(t)
	if _, err := t.side.Write([]byte{ready}); err != nil {
		return err
	}
	return t.side.SetDeadline(time.Time{})
}

// admit makes a queue pair for a peer, and buffers for its messages.
func (e *endpoint) admit(t *target) (err error) {
	if t.pair, err = newQueuePair(e.domain, e.cq, e.srq, targetDepth, 0); err != nil {
		return err
	}
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	lacking := 0
	for t.credits == 0 {
		if err := e.provide(lacking); err != nil {
			return errors.Join(err, t.pair.close())
		}
		t.credits, lacking = e.credits.admit(t, lacking)
	}
	e.table.pairs[t.pair.number] = t
	e.arrivals.expect(maxCredits + 1)
	return nil
}

// enter has the peer told of closed regions from now on. It knows none yet.
func (e *endpoint) enter(t *target) {
	e.harvesting.Lock()
	defer e.harvesting.Unlock()
	t.number = len(e.table.targets)
	e.table.targets = append(e.table.targets, t)
}

// provide puts n buffers more into the receive queue. Called with harvesting held.
func (e *endpoint) provide(n int) error {
	if n == 0 {
		return nil
	}
	m, err := e.domain.register(make([]byte, n*transport.MaxMessage), false)
	if err != nil {
		return fmt.Errorf("buffers for %d messages: %w", n, err)
	}
	for i := range n {
		number := uint32(len(e.table.buffers))
		b := buffer{memory: m, at: i * transport.MaxMessage, first: i == 0}
		e.table.buffers = append(e.table.buffers, b)
		e.repost(number, b.mem(0), m.lkey)
	}
	return nil
}

// retireTarget frees the queue pair of a connection that has ended. The buffers of what
// it has left in the completion queue are posted again, and then serve others.
func (e *endpoint) retireTarget(t *target) {
	e.harvesting.Lock()
	if t.pair == nil {
		e.harvesting.Unlock()
		return
	}
	delete(e.table.pairs, t.pair.number)
	any := e.drainQueue()
	_ = t.close() // Close of the endpoint finds what is left
	e.credits.gone(t)
	e.harvesting.Unlock()
	if any {
		e.advance()
		e.watcher.left()
	}
}

// Sever ends the connections from a rank of which the job knows that it is gone, and
// that nothing more is to come from it. When it has returned nothing of that rank
// reaches this rank's memory: a queue pair that is no more takes no packets, also not
// those that are still on the network.
func (e *endpoint) Sever(rank int) {
	for _, t := range e.incoming() {
		if t.rank == rank {
			t.end(transport.ErrPeerFailed)
			e.retireTarget(t)
		}
	}
}

func (t *target) owns(pair uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pair != nil && t.pair.number == pair
}
