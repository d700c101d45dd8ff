package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
)

const (
	// stagger is how long a parent may take before the next is tried, too.
	stagger = 200 * time.Millisecond
	// retryPause is the time between two rounds of tries.
	retryPause = 100 * time.Millisecond
	// firstPause and lastPause are that of who joins: it may wait for minutes, and ask
	// for a name each time.
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
	// unacknowledged is how long what was sent may stay unacknowledged before the
	// kernel gives a connection up.
	unacknowledged = 10 * time.Second
)

// A try is to connect to one of several addresses.
type try struct {
	at   int
	conn net.Conn
	err  error
}

// dialAny connects to one of addresses, the first if it answers soon. errs says, for
// each that was tried, why it was not that one. It gives up when enough says that an
// error leaves no hope.
func dialAny(ctx context.Context, key []byte, addresses []string, enough func(at int, err error) bool) (conn net.Conn, at int, errs []error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs = make([]error, len(addresses))
	tries := make(chan try)
	started, under := 0, 0
	next := func() {
		if started < len(addresses) && conn == nil {
			at := started
			started, under = started+1, under+1
			go func() {
				c, err := join.DialOnce(ctx, addresses[at], key, unacknowledged)
				tries <- try{at, c, err}
			}()
		}
	}
	next()
	for under > 0 {
		select {
		case t := <-tries:
			under--
			switch errs[t.at] = t.err; {
			case t.err != nil && enough(t.at, t.err):
				started = len(addresses)
				cancel()
			case t.err != nil:
				next()
			case conn != nil:
				abandon(t.conn)
			default:
				conn, at = t.conn, t.at
				cancel()
			}
		case <-time.After(stagger):
			next()
		}
	}
	return conn, at, errs
}

// dialFirst connects to the first of parents that can be reached, and tries until ctx
// ends. A parent with another key is given up at once.
func dialFirst(ctx context.Context, key []byte, parents []string) (net.Conn, int, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, at, errs := dialAny(ctx, key, parents, func(int, error) bool { return false })
		if conn != nil {
			return conn, at, nil
		}
		err := errs[len(errs)-1]
		if !join.MayPass(err) || ctx.Err() != nil {
			return nil, 0, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, 0, err
		}
	}
}

// dialOthers connects to the nearest parent behind lost, or else to another. io.EOF:
// nobody listens any more where the front, the last of them, did.
func dialOthers(ctx context.Context, key []byte, parents []string, lost int) (net.Conn, int, error) {
	var order []int
	for i := range parents {
		order = append(order, i)
	}
	order = slices.Concat(order[lost+1:], order[:lost+1])
	var addresses []string
	for _, i := range order {
		addresses = append(addresses, parents[i])
	}
	front := slices.Index(order, len(parents)-1)
	gone := func(at int, err error) bool { return at == front && errors.Is(err, syscall.ECONNREFUSED) }
	conn, at, errs := dialAny(ctx, key, addresses, gone)
	switch {
	case conn != nil:
		return conn, order[at], nil
	case gone(front, errs[front]):
		return nil, 0, io.EOF
	}
	return nil, 0, errs[front]
}
