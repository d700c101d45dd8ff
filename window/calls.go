package window

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/window/packet"
)

// A call is a request that the service of a remote target answers. It is a condition:
// that it was answered.
type call struct {
	core     *core
	remote   *remote
	token    uint64
	answered atomic.Bool // behind everything else
	err      error
	value    []byte // what it fetches
	// What was begun before it, and is complete when it is answered.
	puts, asked uint64
}

func (k *call) Ready() bool { return k.answered.Load() }

// Err is the failure of the target: then there will be no answer.
func (k *call) Err() error { return k.core.in.Failure(k.remote.target) }

// calls are the window's calls, by the lower half of their token, from 1 on. The upper
// half counts how often that place was used, so a late answer finds nothing.
type calls struct {
	mu   sync.Mutex
	all  []*call
	free []*call
}

const tokenBits = 32

func (s *calls) take(c *core, r *remote) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var k *call
	if last := len(s.free) - 1; last >= 0 {
		k, s.free = s.free[last], s.free[:last]
	} else {
		k = &call{core: c}
		s.all = append(s.all, k)
		k.token = uint64(len(s.all))
	}
	k.remote, k.err, k.value = r, nil, k.value[:0]
	k.answered.Store(false)
	return k
}

func (s *calls) release(k *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k.token += 1 << tokenBits
	s.free = append(s.free, k)
}

// answer takes the answer of a service to its call. One that nobody waits for is late.
func (s *calls) answer(from int, p *packet.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := p.Token&(1<<tokenBits-1) - 1
	if i >= uint64(len(s.all)) {
		return
	}
	k := s.all[i]
	if k.token != p.Token || k.remote.target != from || k.answered.Load() {
		return
	}
	if p.Kind == packet.Refused {
		k.err = packet.DecodeError(p.Data)
	} else {
		k.value = append(k.value, p.Data...)
	}
	k.answered.Store(true)
}

// ask sends a request that is answered. It leaves behind everything that this rank has
// begun on the target, so the answer says that this is complete.
func (c *core) ask(r *remote, p packet.Packet) (*call, error) {
	k := c.calls.take(c, r)
	k.puts, k.asked = r.puts.begun.Load(), r.asked.begun.Load()
	p.Token = k.token
	if err := c.send(r, &p); err != nil {
		c.calls.release(k)
		return nil, err
	}
	return k, nil
}

// await waits for the answer, copies what it brings to value and gives the call up.
func (c *core) await(k *call, value []byte) error {
	return c.conclude(k, c.group.Until(context.Background(), k), value)
}

// conclude is await behind the wait, which ended with err: the target's failure, if there
// will be no answer.
func (c *core) conclude(k *call, err error, value []byte) error {
	defer c.calls.release(k)
	if err == nil {
		k.remote.puts.settle(k.puts)
		k.remote.asked.settle(k.asked)
		err = k.err
	}
	if err == nil && len(k.value) != len(value) {
		err = fmt.Errorf("an answer of %d bytes, want %d", len(k.value), len(value))
	}
	if err == nil {
		copy(value, k.value)
	}
	return c.known(err)
}

// request asks and waits.
func (c *core) request(r *remote, p packet.Packet, value []byte) error {
	k, err := c.ask(r, p)
	if err != nil {
		return err
	}
	return c.await(k, value)
}

// tell sends a request that is not answered.
func (c *core) tell(r *remote, p *packet.Packet) error {
	if err := c.send(r, p); err != nil {
		return err
	}
	r.asked.note()
	if r.asked.open() < maxAsked {
		return nil
	}
	return c.complete(r)
}

var packets = sync.Pool{New: func() any { return new([packet.MaxSize]byte) }}

func (c *core) send(r *remote, p *packet.Packet) error {
	buf := packets.Get().(*[packet.MaxSize]byte)
	defer packets.Put(buf)
	return c.in.Send(context.Background(), r.target, r.port, p.Encode(buf[:0]))
}
