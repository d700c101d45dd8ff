package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// maxDeliveries is how many sessions a node has at once.
const maxDeliveries = 256

// A Node receives blobs for one host's cache and passes them on. Any goroutine may
// use it.
type Node struct {
	name    string
	cache   *cache.Cache
	dialer  Dialer
	options Options

	ctx     context.Context
	stop    context.CancelCauseFunc
	running sync.WaitGroup

	mu         sync.Mutex
	flights    map[digest.Sum]*flight // the newest of each blob; ended ones go
	deliveries map[*delivery]bool
}

// NewNode returns the node of a host, which has a name. The caller closes it before
// the cache.
func NewNode(name string, c *cache.Cache, d Dialer, o Options) *Node {
	n := &Node{name: name, cache: c, dialer: d, options: o.withDefaults()}
	n.flights, n.deliveries = map[digest.Sum]*flight{}, map[*delivery]bool{}
	n.ctx, n.stop = context.WithCancelCause(context.Background())
	return n
}

// Close ends all transfers and waits for their end.
func (n *Node) Close() {
	n.mu.Lock()
	n.stop(errStopping)
	n.mu.Unlock()
	n.running.Wait()
}

// enter reports whether something may begin, which then calls running.Done.
func (n *Node) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return false
	}
	n.running.Add(1)
	return true
}

// Serve is one session: it takes an order from a stream, receives what it says, and
// passes that on. It closes the stream, and returns when both ends are through with
// it, or when the stream has broken, ctx ended, or the node was closed. The stream's
// Close must end a Read and a Write that wait.
func (n *Node) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	if !n.enter() {
		return errors.Join(errStopping, conn.Close())
	}
	defer n.running.Done()
	s := newStream(ctx, conn, n.options.Silence)
	defer s.close()
	defer context.AfterFunc(n.ctx, func() { s.end(errStopping) })()
	o, err := n.takeOrder(s)
	if err != nil {
		return err
	}
	d := newDelivery(n, s, o)
	if err := n.admit(d); err != nil {
		d.decline(err)
		return err
	}
	defer n.dismiss(d)
	return d.run()
}

func (n *Node) takeOrder(s *stream) (order, error) {
	k, length, err := s.next()
	if err != nil {
		return order{}, err
	}
	if k != kindOrder {
		return order{}, unexpected(k)
	}
	b, err := s.payload(length)
	if err != nil {
		return order{}, err
	}
	o, err := parseOrder(b)
	if err == nil && o.Hosts[0].Name != n.name {
		err = fmt.Errorf("an order for %s has reached %s", o.Hosts[0].Name, n.name)
	}
	return o, err
}

// admit lets a delivery begin. Of one push only the newest session goes on.
func (n *Node) admit(d *delivery) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.deliveries) >= maxDeliveries {
		return errBusy
	}
	for other := range n.deliveries {
		if other.order.Push != d.order.Push {
			continue
		}
		if other.order.Session >= d.order.Session {
			return errReplaced
		}
		other.stream.end(errReplaced)
	}
	n.deliveries[d] = true
	return nil
}

func (n *Node) dismiss(d *delivery) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.deliveries, d)
}

// flight returns the flight of a blob, which the caller has joined.
func (n *Node) flight(b manifest.Blob) (*flight, error) {
	warm, err := n.lease(b) // read without the lock, if it has to be read
	if err != nil {
		return nil, err
	}
	if warm != nil {
		defer warm.Close()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	f, err := n.find(b)
	if err == nil {
		f.join()
	}
	return f, err
}

func (n *Node) find(b manifest.Blob) (*flight, error) {
	if f := n.flights[b.Sum]; f != nil && !f.failing() {
		return f, sameSize(b, f.blob.Size)
	}
	lease, err := n.lease(b)
	if err != nil {
		return nil, err
	}
	if lease != nil {
		return landed(b, lease), nil
	}
	return n.begin(b)
}

// lease returns a lease of a blob, nil if it has to be fetched.
func (n *Node) lease(b manifest.Blob) (*cache.Blob, error) {
	lease, err := n.cache.Lease(b.Sum)
	var refused *cache.Refused
	switch {
	case errors.Is(err, cache.ErrMissing), errors.As(err, &refused):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err := sameSize(b, lease.Size); err != nil {
		return nil, errors.Join(err, lease.Close())
	}
	return lease, nil
}

func sameSize(b manifest.Blob, size int64) error {
	if b.Size != size {
		return fmt.Errorf("blob %s is said to have %d bytes, and has %d", b.Sum.Short(), b.Size, size)
	}
	return nil
}

// begin begins the flight of a blob that is not in the cache.
func (n *Node) begin(b manifest.Blob) (*flight, error) {
	part, err := n.cache.Create(b.Sum, b.Size)
	if err != nil {
		return nil, err
	}
	f := newFlight(b, part, n.options)
	n.flights[b.Sum] = f
	n.running.Go(func() {
		if f.verify(n.ctx) == nil {
			n.keep(b.Sum)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.flights[b.Sum] == f {
			delete(n.flights, b.Sum)
		}
	})
	return f, nil
}

// keep keeps a blob from being evicted before a job had time to take a lease.
func (n *Node) keep(sum digest.Sum) {
	lease, err := n.cache.Lease(sum)
	if err != nil {
		return // who needs it will come across the same error
	}
	n.running.Go(func() {
		defer lease.Close()
		select {
		case <-time.After(n.options.Keep):
		case <-n.ctx.Done():
		}
	})
}
