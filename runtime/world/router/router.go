package router

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/waiting"
	"github.com/golaunch/golaunch/transport"
)

// Config is what a Router is told about its rank.
type Config struct {
	Rank, Size int
	// Until waits for a condition and polls this router meanwhile.
	Until func(ctx context.Context, c waiting.Condition) error
	// Wake makes whoever waits in Until look again. It is cheap when nobody sleeps.
	Wake func()
	// Failure is what the job says of a rank: nil, or why nothing more is to be
	// expected of it.
	Failure func(rank int) error
	// HostName is the name of a rank's host, "" if it is this rank's.
	HostName func(rank int) string
	// Dial connects to a rank, over the right endpoint. It is called once for each
	// rank, unless it fails.
	Dial func(ctx context.Context, rank int) (transport.Conn, error)
	// Stats is where sending and waiting are counted, nil: nowhere.
	Stats *Stats
}

// A Router belongs to one rank. Its methods may be called from any goroutine.
type Router struct {
	cfg    Config
	peers  []peer // by rank
	ports  ports
	ops    operations
	posts  sync.WaitGroup // goroutines that send what was posted
	ctx    context.Context
	cancel context.CancelFunc

	ends   []*end        // complete before anybody polls
	sole   watcher       // the only endpoint, if it watches
	wanted atomic.Uint32 // what somebody has asked for since the last round began
	turn   sync.Mutex    // held to poll; guards what follows
	done   [32]transport.Completion
	closed bool
}

// An end is one of the rank's endpoints.
type end struct {
	transport.Endpoint
	serves func(rank int) bool
	rests  rester // nil: it has no goroutine that would poll while the rank sleeps
	idles  idler  // nil: it cannot tell, or not any more
	dead   bool   // guarded by turn
}

// New returns a Router without endpoints.
func New(cfg Config) *Router {
	r := &Router{cfg: cfg, peers: make([]peer, cfg.Size)}
	for rank := range r.peers {
		r.peers[rank].init(rank)
	}
	r.ports.init(r)
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

type rester interface{ Rest() }

// An idler is an endpoint that can tell for less than a Poll that there is nothing for
// one. It is not called any more when the endpoint is closed.
type idler interface{ Idle() bool }

// What a round may be wanted for.
const (
	wantAll   = 1 << iota // every endpoint
	wantQuiet             // those that do not rest
)

// Add makes e one of the endpoints that are polled. serves tells which ranks are
// reached through it. It must be called before other goroutines use r; but those of
// the endpoints themselves may Poll.
func (r *Router) Add(e transport.Endpoint, serves func(rank int) bool) {
	r.turn.Lock()
	defer r.turn.Unlock()
	rests, _ := e.(rester)
	idles, _ := e.(idler)
	r.ends = append(r.ends, &end{Endpoint: e, serves: serves, rests: rests, idles: idles})
	if r.sole = nil; len(r.ends) == 1 {
		r.sole, _ = e.(watcher)
	}
}

// Poll takes what has come to where it belongs, and reports whether there was
// anything. It never waits.
func (r *Router) Poll() (progress bool) {
	if !r.Hold() {
		return r.poll(wantAll)
	}
	progress = r.round(wantAll)
	r.Release()
	return progress
}

// poll: whoever finds the turn taken has said before what it wants. The holder
// sees that after it has let go, or the turn was free in between and somebody else
// took it later.
func (r *Router) poll(want uint32) (progress bool) {
	r.wanted.Or(want)
	for r.wanted.Load() != 0 && r.turn.TryLock() {
		if r.round(r.wanted.Swap(0)) {
			progress = true
		}
		r.turn.Unlock()
	}
	return progress
}

// A watcher is an endpoint that can look for a message many times in one call. nil:
// none has come, or there is something for Poll. It is not called any more when the
// endpoint is closed.
type watcher interface {
	Watch(looks int) (rank int, msg []byte)
}

// Hold takes the turn to poll, for Look; Release gives it back. false: somebody
// else polls. Handlers that Look runs find the turn held by their own goroutine.
func (r *Router) Hold() bool { return r.turn.TryLock() }

// Look polls until something has come, so many times at most, and reports whether
// anything had. Called between Hold and Release.
func (r *Router) Look(looks int) (progress bool) {
	if r.wanted.Load() != 0 {
		r.wanted.Store(0) // what follows is what they want
	}
	if r.sole != nil && !r.closed && !r.ends[0].dead {
		if rank, msg := r.sole.Watch(looks); msg != nil {
			if err := r.ports.deliver(rank, msg); err != nil {
				r.lose(rank, err)
			}
			r.cfg.Wake()
			return true
		}
		looks = 1
	}
	for ; looks > 0 && !progress; looks -= roundLooks {
		progress = r.round(wantAll)
	}
	return progress
}

// roundLooks is how many looks into memory a round of all endpoints counts for, which
// asks the system: a Recv looks for long enough for a peer on another host to answer.
const roundLooks = 10

// Sweep polls until nothing more has come: whatever had arrived before the call has
// been taken to its place when it returns. Not for handlers.
func (r *Router) Sweep() {
	r.turn.Lock()
	for r.round(wantAll) {
	}
	r.turn.Unlock()
}

// Release gives the turn back, and polls for those who wanted it meanwhile.
func (r *Router) Release() {
	r.turn.Unlock()
	if r.wanted.Load() != 0 {
		r.poll(wantAll)
	}
}

// round polls endpoints once. Called with turn held.
func (r *Router) round(want uint32) (progress bool) {
	if r.closed {
		return false
	}
	for _, e := range r.ends {
		if e.dead || e.rests != nil && want&wantAll == 0 || e.idles != nil && e.idles.Idle() {
			continue
		}
		n, err := e.Poll(r.done[:])
		if err != nil {
			r.bury(e, err)
		} else if n > 0 {
			r.take(n, want)
		}
		progress = progress || n > 0 || err != nil
	}
	if progress {
		r.cfg.Wake()
	}
	return progress
}

// take dispatches what one endpoint has brought.
func (r *Router) take(n int, want uint32) {
	for i := range n {
		r.dispatch(&r.done[i])
	}
	if n == len(r.done) {
		r.wanted.Or(want) // there may be more
	}
}

func (r *Router) dispatch(c *transport.Completion) {
	switch {
	case c.Op != 0:
		r.ops.complete(c.Op, c.Err)
	case c.Rank < 0 || c.Rank >= len(r.peers):
	case c.Message != nil:
		if err := r.ports.deliver(c.Rank, c.Message); err != nil {
			r.lose(c.Rank, err)
		}
	default:
		r.lose(c.Rank, c.Err)
	}
}

// bury gives up an endpoint that can no longer be used, and with it the ranks
// behind it.
func (r *Router) bury(e *end, err error) {
	e.dead = true
	for rank := range r.peers {
		if rank != r.cfg.Rank && e.serves(rank) {
			r.lose(rank, err)
		}
	}
}

// Progress is Config.Progress of the endpoints: nobody polls, it seems, so this
// goroutine does, and hands back to the endpoints at once.
func (r *Router) Progress() {
	for r.Poll() {
	}
	r.Rest()
}

// Rest tells the endpoints that want to know that the rank stops polling in a
// loop. What they bring from now on they announce.
func (r *Router) Rest() {
	for _, e := range r.ends {
		if e.rests != nil {
			e.rests.Rest()
		}
	}
}

// Drowse takes in what only rings the rank's bell when it arrives, from those
// endpoints that do not rest. A rank does it before it sleeps and when it was
// woken.
func (r *Router) Drowse() {
	for r.poll(wantQuiet) {
	}
}

// lose notes that nothing more will come from a rank. The first reason counts.
func (r *Router) lose(rank int, err error) {
	if err == nil {
		err = transport.ErrClosed
	}
	r.peers[rank].gone.CompareAndSwap(nil, &err)
}

// Gone returns why nothing more will come from a rank, by word of its transport:
// all it has sent was delivered. nil: more may come, or it was never heard of.
func (r *Router) Gone(rank int) error {
	if err := r.peers[rank].gone.Load(); err != nil {
		return *err
	}
	return nil
}

// Failure returns a *job.RankFailedError if nothing more is to be expected of a
// rank, by word of the job or of its transport; nil otherwise.
func (r *Router) Failure(rank int) error {
	if err := r.cfg.Failure(rank); err != nil {
		return err
	}
	if err := r.Gone(rank); err != nil && !r.stopped() {
		return r.failed(rank, err)
	}
	return nil
}

// explain makes a transport's complaint about a peer that peer's failure. Other
// errors stay as they are, and so do all when this rank itself is leaving.
func (r *Router) explain(rank int, err error) error {
	if r.stopped() || !errors.Is(err, transport.ErrPeerFailed) && !errors.Is(err, transport.ErrClosed) {
		return err
	}
	return r.blame(rank, err)
}

// blame makes err the failure of a rank, of which the job may know more.
func (r *Router) blame(rank int, err error) error {
	if failed := r.cfg.Failure(rank); failed != nil {
		return failed
	}
	return r.failed(rank, err)
}

// failed is the error for a peer of which only its transport has bad news.
func (r *Router) failed(rank int, err error) error {
	var failed *job.RankFailedError
	if errors.As(err, &failed) {
		return failed
	}
	if errors.Is(err, transport.ErrClosed) {
		err = errPeerClosed
	}
	return &job.RankFailedError{Rank: rank, Host: r.cfg.HostName(rank), Cause: err.Error()}
}

var (
	errPeerClosed = errors.New("it has closed its end of the connection")
	errClosed     = errors.New("this rank has left the job")
)

// Stop ends every call under way and refuses new ones. It is called before the
// endpoints are closed, and not by a handler.
func (r *Router) Stop() {
	r.cancel()
	r.turn.Lock()
	r.sole = nil
	for _, e := range r.ends {
		e.idles = nil
	}
	r.turn.Unlock()
}

func (r *Router) stopped() bool { return r.ctx.Err() != nil }

// Close is called after the endpoints were closed. When it has returned no
// handler runs any more.
func (r *Router) Close() {
	r.cancel()
	for rank := range r.peers { // whoever posts now has begun after cancel
		r.peers[rank].pass()
	}
	r.posts.Wait()
	r.turn.Lock()
	r.closed = true
	r.turn.Unlock()
	r.ports.close()
}

func (r *Router) errorf(rank int, what string, err error) error {
	return fmt.Errorf("%s to rank %d: %w", what, rank, r.explain(rank, err))
}
