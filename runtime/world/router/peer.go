package router

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A peer is a rank that this one may send to, itself included.
type peer struct {
	rank    int
	conn    atomic.Pointer[transport.Conn] // nil before it was dialled
	gone    atomic.Pointer[error]
	dialing chan struct{} // holds one token: whoever has it dials

	mu      sync.Mutex
	posting bool     // a goroutine sends what is in backlog
	backlog [][]byte // with prefix
}

func (p *peer) init(rank int) {
	p.rank = rank
	p.dialing = make(chan struct{}, 1)
}

// Conn returns the connection to a rank and dials it before its first use.
func (r *Router) Conn(ctx context.Context, rank int) (transport.Conn, error) {
	p := &r.peers[rank]
	if c := p.conn.Load(); c != nil {
		return *c, nil
	}
	if r.stopped() {
		return nil, r.errorf(rank, "connecting", errClosed)
	}
	ctx, cancel := r.bind(ctx)
	defer cancel()
	select {
	case p.dialing <- struct{}{}:
		defer func() { <-p.dialing }()
	case <-ctx.Done():
		return nil, r.errorf(rank, "connecting", context.Cause(ctx))
	}
	if c := p.conn.Load(); c != nil {
		return *c, nil
	}
	c, err := r.cfg.Dial(ctx, rank)
	if err != nil {
		if ctx.Err() == nil { // who cannot be reached has failed
			err = r.blame(rank, err)
		}
		return nil, r.errorf(rank, "connecting", err)
	}
	c = r.cfg.Stats.counting(c, rank)
	p.conn.Store(&c)
	return c, nil
}

// Connected reports whether Conn would have to connect no more.
func (r *Router) Connected(rank int) bool { return r.peers[rank].conn.Load() != nil }

// bind ends ctx also with the router.
func (r *Router) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(errClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// MaxMessage is the longest message of Send and Post in bytes.
const MaxMessage = transport.MaxMessage - PrefixSize

var buffers = sync.Pool{New: func() any { return new([transport.MaxMessage]byte) }}

// Send sends a message to a port of a rank, behind what was put to that rank
// before. It may block for credit, polling meanwhile, and the first one dials; ctx
// bounds the dialling.
func (r *Router) Send(ctx context.Context, rank int, port uint32, msg []byte) error {
	if len(msg) > MaxMessage {
		return fmt.Errorf("message of %d bytes to rank %d: %w", len(msg), rank, transport.ErrTooLong)
	}
	buf := buffers.Get().(*[transport.MaxMessage]byte)
	defer buffers.Put(buf)
	return r.SendInPlace(ctx, rank, port, buf[:PrefixSize+copy(buf[PrefixSize:], msg)])
}

// SendInPlace is Send of a message that begins PrefixSize bytes behind the
// beginning of buf, which it overwrites there.
func (r *Router) SendInPlace(ctx context.Context, rank int, port uint32, buf []byte) error {
	c, err := r.Conn(ctx, rank)
	if err != nil {
		return err
	}
	PutPrefix(buf, port)
	if err := c.Send(buf); err != nil {
		return r.errorf(rank, "message", err)
	}
	return nil
}

// Post sends a message like Send, but never blocks: a handler may call it. It goes
// out at once if the connection can tell that there is credit, else by a
// goroutine. Posts to one rank stay in order. An error of the connection is not
// told: the rank is gone then.
//
// What is posted waits in memory that nothing bounds, so it must be an answer to
// something that is bounded.
func (r *Router) Post(rank int, port uint32, msg []byte) error {
	if len(msg) > MaxMessage {
		return fmt.Errorf("message of %d bytes to rank %d: %w", len(msg), rank, transport.ErrTooLong)
	}
	buf := make([]byte, PrefixSize+len(msg))
	PutPrefix(buf, port)
	copy(buf[PrefixSize:], msg)
	p := &r.peers[rank]
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.stopped() {
		return r.errorf(rank, "message", errClosed)
	}
	if !p.posting && p.try(buf) {
		return nil
	}
	p.backlog = append(p.backlog, buf)
	if !p.posting {
		p.posting = true
		r.posts.Go(func() { r.post(p) })
	}
	return nil
}

// try sends at once, if that is possible without blocking.
func (p *peer) try(buf []byte) (sent bool) {
	c := p.conn.Load()
	if c == nil {
		return false
	}
	t, ok := (*c).(transport.TrySender)
	if !ok {
		return false
	}
	sent, err := t.TrySend(buf)
	return sent || err != nil
}

// pass returns when nobody is adding to the backlog who began before.
func (p *peer) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
}

// post sends the backlog and returns when it is empty.
func (r *Router) post(p *peer) {
	for {
		p.mu.Lock()
		all := p.backlog
		p.backlog = nil
		p.posting = len(all) > 0
		p.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, buf := range all {
			if c, err := r.Conn(r.ctx, p.rank); err == nil {
				_ = c.Send(buf) // a peer that cannot be reached has failed, and whoever waits is told
			}
		}
	}
}

// Drain waits until everything that was posted is sent or cannot be, or ctx ends.
// Nobody posts meanwhile.
func (r *Router) Drain(ctx context.Context) {
	drained := make(chan struct{})
	go func() {
		r.posts.Wait()
		close(drained)
	}()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}
