package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window/lock"
	"github.com/golaunch/golaunch/window/packet"
)

// A service carries out at this rank, whatever this rank's program does, what origins on
// other hosts ask for beside the transport's operations: on this rank's own memory, with
// the code that ranks use who have it mapped.
//
// Requests are carried out where they are seen, one at a time, unless something has to
// be waited for: then a goroutine does, and what its origin asks for meanwhile waits
// behind it. An origin has at most maxAsked requests and one for each of its goroutines
// under way, so that is bounded.
//
// The lock order is client.mu, then deputy.mu; answers are posted under either.
type service struct {
	core    *core
	port    *world.Port
	members map[int]int // by their rank in the world
	clients []client    // by member; those of this host are not used
	opened  atomic.Bool // clients is complete
	running sync.WaitGroup
	ctx     context.Context // ends with the service, and with it every wait
	cancel  context.CancelCauseFunc
	over    atomic.Pointer[error] // why every request is refused
}

// A client is an origin.
type client struct {
	member  int
	port    uint32 // where its answers go
	deputy  deputy
	latches lock.Latches  // as this origin enters them
	inside  atomic.Uint32 // those it has entered and not left, by bit

	failed error // of a request without an answer: the next answer's

	mu    sync.Mutex
	busy  bool   // a goroutine carries out queue, and has failed to itself
	queue []task // behind what the goroutine is at
}

// A task is a request that is carried out.
type task struct {
	packet.Packet
	done int // elements of an Accumulate that have been dealt with
}

// open makes the service ready for requests: ports are where each member's answers go. This
// rank's part is in place.
func (s *service) open(ports []uint32) error {
	c := s.core
	s.clients = make([]client, len(ports))
	for m := range s.clients {
		o := &s.clients[m]
		o.member, o.port = m, ports[m]
		o.deputy.service, o.deputy.client = s, o
		if !c.away[m] {
			continue
		}
		if err := o.deputy.lock.Init(c.own.memory, m, len(ports), c.peers(c.me)); err != nil {
			return err
		}
		if c.latches == nil {
			continue
		}
		var err error
		if o.latches, err = lock.InitLatches(c.own.memory[c.latchesAt():], m, len(ports), c.peers(c.me)); err != nil {
			return err
		}
	}
	s.opened.Store(true)
	return nil
}

// errBusy is why a request cannot be carried out at once.
var errBusy = errors.New("something has to be waited for")

var errClosed = errors.New("the window is freed")

// newService has the port, whose number the others have to know, and nothing else yet.
func newService(c *core) *service {
	s := &service{core: c, members: map[int]int{}}
	for m := range c.away {
		s.members[c.in.WorldRank(m)] = m
	}
	s.ctx, s.cancel = context.WithCancelCause(c.in.Context())
	s.port = c.in.OpenPort(s.handle)
	return s
}

// handle is the port's. It does not block.
func (s *service) handle(rank int, msg []byte) {
	p, err := packet.Decode(msg)
	from, member := s.members[rank]
	if err != nil || !member || !s.core.away[from] || !s.opened.Load() {
		return // nobody can be told
	}
	if p.Kind >= packet.Done {
		s.core.calls.answer(from, &p)
		return
	}
	if over := s.over.Load(); over != nil {
		s.answer(&s.clients[from], &p, nil, *over)
		return
	}
	s.take(&s.clients[from], p)
}

func (s *service) take(o *client, p packet.Packet) {
	switch p.Kind {
	case packet.Lock:
		o.deputy.request(lockMode(p.Mode), p)
	case packet.Cancel:
		o.deputy.withdraw(p.Token)
	case packet.Leave: // must not wait behind somebody who waits for the latch
		s.leaveFor(o, &p)
	default:
		s.request(o, task{Packet: p})
	}
}

// request carries t out, or leaves it to the client's goroutine.
func (s *service) request(o *client, t task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.busy {
		if s.carryOut(o, &t, false) {
			return
		}
		o.busy = true
		s.start(func() { s.work(o) })
	}
	t.Data = slices.Clone(t.Data)
	o.queue = append(o.queue, t)
}

// work carries out what was left to the goroutine, until nothing is.
func (s *service) work(o *client) {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			o.queue, o.busy = nil, false
			o.mu.Unlock()
			return
		}
		t := o.queue[0]
		o.queue = o.queue[1:]
		o.mu.Unlock()
		s.carryOut(o, &t, true)
	}
}

// carryOut does what t asks for and answers. It returns false if it may not wait but has
// to; then it has to be called again.
func (s *service) carryOut(o *client, t *task, wait bool) bool {
	var value []byte
	err := o.failed
	if t.Token != 0 {
		o.failed = nil // t is not done, and says why
	}
	if err == nil || t.Token == 0 || t.Kind == packet.Unlock {
		var e error
		if value, e = s.do(o, t, wait); e == errBusy {
			o.failed = err
			return false
		}
		err = firstOf(err, e)
	}
	if t.Token == 0 {
		o.failed = err
		return true
	}
	s.answer(o, &t.Packet, value, err)
	return true
}

func (s *service) do(o *client, t *task, wait bool) (value []byte, err error) {
	switch t.Kind {
	case packet.Accumulate:
		return nil, s.accumulate(o, t, wait)
	case packet.Fetch:
		return s.fetch(o, t, wait)
	case packet.Swap:
		return s.swap(o, t, wait)
	case packet.Enter:
		return nil, s.enterFor(o, t, wait)
	case packet.Unlock:
		return nil, o.deputy.release(wait)
	}
	return nil, nil // Flush: everything before it is done
}

// answer tells the origin how p ended. One that is gone needs no answer.
func (s *service) answer(o *client, p *packet.Packet, value []byte, err error) {
	if p.Token == 0 || p.Kind == packet.Cancel {
		return
	}
	reply := packet.Packet{Kind: packet.Done, Token: p.Token, Data: value}
	if err != nil {
		reply.Kind, reply.Data = packet.Refused, packet.EncodeError(nil, err)
	}
	_ = s.core.in.Post(o.member, o.port, reply.Encode(nil))
}

// check is what a request on n elements that brings so many must fulfil.
func (s *service) check(p *packet.Packet, n, brings int) error {
	count, size := uint64(s.core.Size(s.core.me)), s.core.kind.Size
	switch {
	case p.Disp > count || uint64(n) > count-p.Disp:
		return fmt.Errorf("%s at displacement %d, of %d", plural(n), p.Disp, count)
	case len(p.Data)%size != 0 || len(p.Data)/size != brings:
		return fmt.Errorf("%d bytes for %s of %d", len(p.Data), plural(brings), size)
	}
	return nil
}

// close ends the service: when it has returned, nothing of it runs. Nobody needs it any
// more.
func (s *service) close() {
	s.port.Close()
	s.stop(errClosed)
}

// refuse is close when others may still ask, because not all have agreed on the end: they
// are told why, until this rank leaves.
func (s *service) refuse(why error) {
	s.over.CompareAndSwap(nil, &why)
	s.stop(why)
}

// start runs f in a goroutine that stop waits for, and Leave.
func (s *service) start(f func()) {
	s.running.Add(1)
	s.core.in.Go(func() {
		defer s.running.Done()
		f()
	})
}

// stop ends all waits.
func (s *service) stop(why error) {
	s.cancel(why)
	s.running.Wait()
}
