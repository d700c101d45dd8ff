package stage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/spread"
)

// A delivery is the receiver's side of a session: it gets the blobs of an order one
// after the other, and passes them on.
type delivery struct {
	node   *Node
	stream *stream
	order  order
	blobs  []arrival

	mu      sync.Mutex
	feeding *flight // where data goes
}

// An arrival is a blob of the order: a flight, once it is known.
type arrival struct {
	known  chan struct{}
	flight *flight
}

func newDelivery(n *Node, s *stream, o order) *delivery {
	d := &delivery{node: n, stream: s, order: o, blobs: make([]arrival, len(o.Blobs))}
	for i := range d.blobs {
		d.blobs[i].known = make(chan struct{})
	}
	return d
}

// run returns when everything is reported and the sender has hung up, or when the
// stream has ended.
func (d *delivery) run() error {
	s := d.stream
	var talk, children sync.WaitGroup
	talk.Go(s.beat)
	talk.Go(func() { s.end(d.listen()) })
	below, cancel := context.WithCancelCause(s.ctx)
	for _, head := range spread.Heads(d.order.Parents, 0) {
		children.Go(func() { d.pass(below, head) })
	}
	err := d.receive()
	if err != nil {
		cancel(err) // what is not here cannot be passed on
	}
	d.tell(d.outcome(err))
	children.Wait()
	cancel(nil)
	d.leave()
	cut := context.Cause(s.ctx) // nil: everything was reported
	if err := s.send(kindEnd, nil); err != nil {
		s.end(err)
	}
	talk.Wait() // until the sender hangs up: to hang up first might cost it our last words
	if cause := context.Cause(s.ctx); cut != nil || !errors.Is(cause, errClosed) {
		return cause
	}
	return nil
}

// decline ends a session before it has begun.
func (d *delivery) decline(why error) {
	d.tell(reportOf(d.order.Hosts[0].Name, failed, why))
	d.stream.send(kindEnd, nil)
	for {
		_, length, err := d.stream.next()
		if err != nil || d.stream.pieces(length, func([]byte) {}) != nil {
			return // the sender has hung up
		}
	}
}

// outcome reports on this host.
func (d *delivery) outcome(err error) report {
	name := d.order.Hosts[0].Name
	var mismatch *cache.Mismatch
	switch {
	case err == nil:
		return reportOf(name, done, nil)
	case errors.As(err, &mismatch):
		return reportOf(name, lost, err) // who passed it on may have had it wrong
	}
	return reportOf(name, failed, err)
}

func (d *delivery) tell(r report) {
	if err := d.stream.sendJSON(kindReport, &r); err != nil {
		d.stream.end(err)
	}
}

// listen takes data until the sender hangs up.
func (d *delivery) listen() error {
	for {
		k, length, err := d.stream.next()
		if err != nil {
			return err
		}
		if k != kindData || length < offsetSize {
			return unexpected(k)
		}
		if err := d.take(length); err != nil {
			return err
		}
	}
}

// take takes a frame of data for the blob that was asked for last.
func (d *delivery) take(length int) error {
	d.mu.Lock()
	f := d.feeding
	d.mu.Unlock()
	if f == nil {
		return unexpected(kindData)
	}
	b, err := d.stream.payload(offsetSize)
	if err != nil {
		return err
	}
	at := int64(binary.BigEndian.Uint64(b))
	return d.stream.pieces(length-offsetSize, func(b []byte) {
		f.append(d, at, b)
		at += int64(len(b))
	})
}

// receive gets every blob.
func (d *delivery) receive() error {
	for i := range d.blobs {
		if err := d.receiveOne(i); err != nil {
			return err
		}
	}
	return nil
}

// receiveOne gets a blob. Wrong content that another sender has begun is no reason to
// give up: that happens when who was lost on the way had also changed what it
// passed on. Those below are not given the second try's content: they have had some
// of the first's, which makes them the sender's business.
func (d *delivery) receiveOne(i int) error {
	f, err := d.node.flight(d.order.Blobs[i])
	if err != nil {
		return err
	}
	d.blobs[i].flight = f
	close(d.blobs[i].known)
	err = d.follow(i, f)
	var mismatch *cache.Mismatch
	if !errors.As(err, &mismatch) || f.isFrom(d) {
		return err
	}
	again, err := d.node.flight(d.order.Blobs[i])
	if err != nil {
		return err
	}
	defer again.leave()
	return d.follow(i, again)
}

// follow stays with a flight to its end, as its feeder if it can be.
func (d *delivery) follow(i int, f *flight) error {
	defer f.unclaim(d)
	offset, feeds, err := f.claim(d.stream.ctx, d)
	if err != nil || !feeds {
		return err
	}
	d.mu.Lock()
	d.feeding = f
	d.mu.Unlock()
	if err := d.stream.send(kindWant, want{i, offset}.append(nil)); err != nil {
		return err
	}
	return f.end(d.stream.ctx)
}

// leave ends the use of the flights.
func (d *delivery) leave() {
	for _, a := range d.blobs {
		if a.flight != nil {
			a.flight.leave()
		}
	}
}

// pass carries out the part of the order that is for a child and those below.
func (d *delivery) pass(ctx context.Context, head int) {
	sub := d.order.below(head)
	c := courier{dialer: d.node.dialer, options: d.node.options, order: sub, supply: d.supply, report: d.tell}
	if err := c.run(ctx); err != nil && ctx.Err() == nil {
		d.tell(reportOf(sub.Hosts[0].Name, lost, fmt.Errorf("%s %w", d.order.Hosts[0].Name, err)))
	}
}

// supply waits until this host knows where it has a blob.
func (d *delivery) supply(ctx context.Context, i int) (supply, io.ReaderAt, error) {
	select {
	case <-d.blobs[i].known:
		f := d.blobs[i].flight
		return f, f.content, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}
