package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/join"
	"github.com/golaunch/golaunch/launcher/internal/tree"
)

// firstTimeout is the failure timeout until the parent says which one its user wants.
const firstTimeout = 10 * time.Second

// A RejectedError is why the front, or a parent, does not want this host.
type RejectedError struct{ Text string }

func (e *RejectedError) Error() string { return e.Text }

// A Node is a host's end of a launch tree, and the stream to the front: a
// control.PromptStream.
type Node struct {
	hub
	m       *tree.Node
	key     []byte
	parents []string
	over    context.Context // ends with the Node
	stop    context.CancelFunc

	// These are guarded by mu.
	changed sync.Cond
	in      []byte // has come, and was not read
	err     error  // why nothing more comes
	at      int    // which of parents it is attached to
	leaving bool   // it looks for no other parent
	paused  bool
	cut     int // ticks without a way to the root, since it was attached or detached
}

// NewNode returns a host that is not attached to anybody. If serve is not empty, it
// is the address at which others can attach to it.
func NewNode(serve string, key []byte) (*Node, error) {
	n := &Node{m: tree.NewNode(tree.ID(1 + rand.Uint64N(1<<64-1))), key: key}
	n.hub = hub{machine: n.m, links: map[tree.Link]*link{}, took: n.take, period: tickOf(firstTimeout)}
	n.ackDelay = func() time.Duration { return n.period }
	n.changed.L = &n.mu
	n.over, n.stop = context.WithCancel(context.Background())
	if serve == "" {
		return n, nil
	}
	var err error
	if n.listener, err = join.Listen(serve, key, firstTimeout); err == nil {
		n.running.Go(n.serve)
	}
	return n, err
}

// Addr is where others can attach; "": nowhere.
func (n *Node) Addr() string {
	if n.listener == nil {
		return ""
	}
	return n.listener.Addr().String()
}

// Join attaches to the first of parents, host:port, that lives; the last is the
// front. It tries until ctx ends. From then on the Node keeps attached, to the nearest
// of those behind a parent that is lost, or else the nearest of all. It must be called
// once.
func (n *Node) Join(ctx context.Context, parents []string) error {
	n.parents = parents
	conn, at, err := dialFirst(ctx, n.key, parents)
	if err != nil {
		return err
	}
	n.attach(conn, at)
	n.running.Go(n.tick)
	n.running.Go(n.keep)
	return nil
}

// attach takes a connection to a parent.
func (n *Node) attach(conn net.Conn, at int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = at
	up := newLink(tree.Parent, conn)
	n.links[tree.Parent] = up
	n.cut = 0
	n.running.Go(up.write)
	if n.over.Err() != nil {
		up.fail(net.ErrClosed)
	}
	n.m.Attach()
	n.carry()
}

// keep reads what comes from the parent, and finds another one when it is lost.
func (n *Node) keep() {
	for {
		err := n.attend()
		n.detach()
		if n.over.Err() != nil || n.finished() {
			n.end(errOver)
			return
		}
		if err := n.reattach(err); err != nil {
			n.end(err)
			return
		}
	}
}

// attend passes on what comes from the parent.
func (n *Node) attend() error {
	n.mu.Lock()
	up := n.links[tree.Parent]
	n.mu.Unlock()
	for {
		f, err := up.read()
		if err != nil {
			_, why := up.ended(err)
			return why
		}
		if f.Kind == tree.Refuse {
			return &RejectedError{f.Text}
		}
		full := n.do(func() {
			err = n.m.FromParent(f)
			n.period = tickOf(cmp.Or(time.Duration(n.m.Timeout()), firstTimeout))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", up.where, err)
		}
		for _, l := range full {
			if l != up {
				up.waitFor(l)
			}
		}
	}
}

// detach gives up what is left of the link to the parent, which learns, if it lives,
// that this host does.
func (n *Node) detach() {
	n.mu.Lock()
	defer n.mu.Unlock()
	up := n.links[tree.Parent]
	n.m.Move()
	n.carry()
	delete(n.links, tree.Parent)
	n.cut = 0
	n.m.Detached()
	n.carry()
	n.running.Go(func() {
		up.leave(leaveWait)
		up.conn.SetReadDeadline(time.Now().Add(leaveWait))
		io.Copy(io.Discard, up.conn)
		up.fail(net.ErrClosed)
	})
}

// finished reports whether there is no reason to find another parent.
func (n *Node) finished() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leaving || n.err != nil
}

// reattach finds another parent; lost says how the last one was lost. io.EOF: the
// front is gone.
func (n *Node) reattach(lost error) error {
	var rejected *RejectedError
	if errors.As(lost, &rejected) {
		return lost
	}
	for {
		conn, at, err := dialOthers(n.over, n.key, n.parents, n.at)
		switch {
		case err == nil:
			n.attach(conn, at)
			return nil
		case n.over.Err() != nil || errors.Is(err, io.EOF):
			return err
		}
		select {
		case <-time.After(retryPause):
		case <-n.over.Done():
			return lost
		}
	}
}

// take follows what the machine has received. mu is held.
func (n *Node) take() {
	for _, data := range n.m.Got() {
		n.in = append(n.in, data...)
	}
	if why, rejected := n.m.Rejected(); rejected && n.err == nil {
		n.err = io.EOF
		if why != "" {
			n.err = &RejectedError{why}
		}
	}
	n.changed.Broadcast()
}

// end ends the stream, and every link: those attached find other parents.
func (n *Node) end(why error) {
	n.mu.Lock()
	if n.err == nil {
		n.err = why
	}
	n.changed.Broadcast()
	n.mu.Unlock()
	n.stop()
	n.hub.close()
}

// tick lets time pass.
func (n *Node) tick() {
	n.mu.Lock()
	period := n.period
	n.mu.Unlock()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-n.over.Done():
			return
		}
		now, minding := n.passed()
		if now != period {
			period = now
			ticker.Reset(now)
		}
		for _, l := range n.current() {
			l.beat(period, minding || l.number != tree.Parent)
		}
	}
}

// passed notes that a tick has passed, and ends the Node when it has been without a
// way to the root for too long: half of the failure timeout to find a parent, all of
// it if there is one, which may have to find one itself.
func (n *Node) passed() (period time.Duration, minding bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut++; n.m.Synced() || n.paused || n.err != nil {
		n.cut = 0
	}
	limit := ticks
	if n.links[tree.Parent] != nil {
		limit *= 2
	}
	if n.cut > limit {
		n.err = fmt.Errorf("for %v there was no way to it", n.period*time.Duration(limit))
		n.changed.Broadcast()
		n.stop()
		for _, l := range n.links {
			l.fail(n.err)
		}
	}
	return n.period, !n.paused
}

// Pause stops minding the parent's silence until Resume: its process, or this one,
// is about to be stopped.
func (n *Node) Pause() { n.setPaused(true) }

// Resume ends what Pause began.
func (n *Node) Resume() { n.setPaused(false) }

func (n *Node) setPaused(paused bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paused = paused
}

// Read reads what the front sends. io.EOF: the front is gone, or has ended the
// stream. *RejectedError: it does not want this host.
func (n *Node) Read(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.in) == 0 && n.err == nil {
		n.changed.Wait()
	}
	if len(n.in) == 0 {
		return 0, n.err
	}
	k := copy(b, n.in)
	if n.in = n.in[k:]; len(n.in) == 0 {
		n.in = nil
	}
	return k, nil
}

// Write sends data to the front. It never waits.
func (n *Node) Write(data []byte) (int, error) {
	kept := append([]byte(nil), data...)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return 0, n.err
	}
	n.m.Send(kept)
	n.carry()
	return len(data), nil
}

// Flush waits until the front has everything, or the stream has ended.
func (n *Node) Flush() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.err == nil && n.m.Unacknowledged() > 0 {
		n.changed.Wait()
	}
	return n.err
}

// Leave ends the Node when nobody is attached to it any more, or it has lost its
// parent. It is called when the job is over for this host.
func (n *Node) Leave() {
	n.mu.Lock()
	n.leaving = true
	for n.m.Children() > 0 && n.over.Err() == nil {
		n.changed.Wait()
	}
	up := n.links[tree.Parent]
	n.m.Move()
	n.carry()
	n.mu.Unlock()
	if up != nil {
		up.leave(leaveWait)
		select {
		case <-n.over.Done(): // the parent has closed the link
		case <-time.After(leaveWait):
		}
	}
	n.Close()
}

// Close ends the Node at once. For its parent it has died.
func (n *Node) Close() error {
	n.end(io.ErrClosedPipe)
	n.running.Wait()
	return nil
}
