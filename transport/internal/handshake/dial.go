package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// stagger is how long an address may say nothing before the next one is tried
// beside it: longer than a handshake inside a data centre, short enough for a
// dozen addresses that lead nowhere.
const stagger = 30 * time.Millisecond

// Dial connects, as rank me, to the rank peer at one of its addresses. They are
// tried in their order: the next one when the one before has failed, or has not
// answered within some 30 ms; the first that proves to be the right rank of the
// right job wins and the others are closed. It returns a *net.TCPConn, or a
// *tls.Conn with Encrypt, without a deadline, with TCP_NODELAY and without
// keepalive. The peer's Accept returns this connection and no other of this Dial.
//
// The error lists what each address said and wraps all of it: one of this
// package's errors where a rank answered, one of the system's else, and ctx's
// cause when that ended it. Nothing of it runs any more when Dial returns. Any
// number of goroutines may call it.
func Dial(ctx context.Context, addrs []netip.AddrPort, me Identity, peer int) (net.Conn, error) {
	conn, err := dial(ctx, addrs, me, peer)
	if err != nil {
		return nil, fmt.Errorf("rank %d: connecting to rank %d: %w", me.Rank, peer, err)
	}
	return conn, nil
}

func dial(ctx context.Context, addrs []netip.AddrPort, me Identity, peer int) (net.Conn, error) {
	if err := me.check(); err != nil {
		return nil, err
	}
	if peer < 0 || peer >= me.Size {
		return nil, fmt.Errorf("rank %d of %d does not exist", peer, me.Size)
	}
	if len(addrs) == 0 {
		return nil, errors.New("it offers no address that leads there")
	}
	c, err := newCaller(me, peer)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := race{ctx: ctx, cancel: cancel, addrs: addrs, call: c.call, outcomes: make(chan outcome, len(addrs)), errs: make([]error, len(addrs))}
	return r.run()
}

// A race tries several addresses at once. All but call runs in one goroutine.
type race struct {
	ctx    context.Context
	cancel context.CancelFunc
	addrs  []netip.AddrPort
	call   func(context.Context, netip.AddrPort) (proved, error)

	next, running int          // addrs[next] is the next to be tried
	outcomes      chan outcome // one for each that was tried; never blocks
	errs          []error      // why each is out of the race
}

type outcome struct {
	at   int
	conn proved
	err  error
}

func (r *race) run() (net.Conn, error) {
	defer r.end()
	ticks := time.NewTicker(stagger)
	defer ticks.Stop()
	r.start()
	for {
		select {
		case <-ticks.C:
			r.start()
		case o := <-r.outcomes:
			r.running--
			if conn := r.take(o); conn != nil {
				return conn, nil
			}
			if r.start(); r.running == 0 {
				return nil, r.failure()
			}
			ticks.Reset(stagger)
		case <-r.ctx.Done():
			r.end()
			return nil, r.failure()
		}
	}
}

// start tries the next address, if there is one.
func (r *race) start() {
	if r.next == len(r.addrs) {
		return
	}
	at := r.next
	r.next++
	r.running++
	go func() {
		conn, err := r.call(r.ctx, r.addrs[at])
		r.outcomes <- outcome{at, conn, err}
	}()
}

// take makes the connection the winner, or notes why it is out.
func (r *race) take(o outcome) net.Conn {
	if o.err == nil {
		o.err = o.conn.confirm()
	}
	r.errs[o.at] = o.err
	if o.err != nil {
		return nil
	}
	return o.conn.Conn
}

// end takes everybody who still runs out of the race, and waits for them.
func (r *race) end() {
	r.cancel()
	for ; r.running > 0; r.running-- {
		o := <-r.outcomes
		if o.err == nil {
			o.conn.Close()
			o.err = errLate
		}
		r.errs[o.at] = o.err
	}
}

var errLate = errors.New("answered too late")

func (r *race) failure() error {
	f := &unreachable{cause: context.Cause(r.ctx)}
	for i, err := range r.errs {
		if err != nil {
			f.addrs, f.errs = append(f.addrs, r.addrs[i]), append(f.errs, err)
		}
	}
	return f
}

// An unreachable lists what the addresses of a rank said.
type unreachable struct {
	cause error // of the context, nil if it did not end
	addrs []netip.AddrPort
	errs  []error // of each
}

func (u *unreachable) Error() string {
	var parts []string
	for i, err := range u.errs {
		parts = append(parts, fmt.Sprintf("%v %v", u.addrs[i], err))
	}
	if u.cause != nil {
		parts = append(parts, u.cause.Error())
	}
	return strings.Join(parts, "; ")
}

func (u *unreachable) Unwrap() []error {
	if u.cause == nil {
		return u.errs
	}
	return append(u.errs[:len(u.errs):len(u.errs)], u.cause)
}
