package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// A flight is a blob on its way into the cache, or in it.
//
//	growing ──> whole, published
//	   └──────> failed
//
// Of the deliveries that have joined it one, the feeder, has asked its sender for
// it; the others wait for its end, or to take the feeder's place. A goroutine of its own verifies what comes, and
// alone ends it.
type flight struct {
	blob    manifest.Blob
	content io.ReaderAt
	part    *cache.Partial // nil: it was in the cache
	options Options

	mu     sync.Mutex
	moved  sync.Cond // any of the following has changed
	length int64
	feeder *delivery // nil: nobody sends
	last   time.Time // when the feeder began, or something came
	source *delivery // of what has come so far; nil: several
	joined int       // deliveries that use it
	err    error     // it has failed, or is about to
	whole  bool      // it is published
	ended  bool      // whole, or failed with nothing left of it
	lease  *cache.Blob
	orphan *time.Timer // runs while nobody has joined a growing flight
}

// landed is the flight of a blob that is in the cache.
func landed(b manifest.Blob, lease *cache.Blob) *flight {
	f := &flight{blob: b, content: lease, length: b.Size, whole: true, ended: true, lease: lease}
	f.moved.L = &f.mu
	return f
}

// newFlight is one that has just begun. verify must be running.
func newFlight(b manifest.Blob, part *cache.Partial, o Options) *flight {
	f := &flight{blob: b, content: part, part: part, options: o}
	f.moved.L = &f.mu
	f.orphan = time.AfterFunc(o.Orphan, f.abandon)
	return f
}

var errOrphan = errors.New("nobody sent the rest")

// abandon gives a flight up that nobody has joined.
func (f *flight) abandon() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.joined == 0 {
		f.failLocked(errOrphan)
	}
}

func (f *flight) join() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined++
	if f.orphan != nil {
		f.orphan.Stop()
	}
}

// leave ends what join began. Who has left reads nothing more.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.joined--
	switch {
	case f.joined > 0:
	case f.ended:
		f.releaseLocked()
	default:
		f.orphan.Reset(f.options.Orphan)
	}
}

// releaseLocked closes the content when nobody uses it.
func (f *flight) releaseLocked() {
	if f.joined == 0 && f.lease != nil {
		f.lease.Close()
		f.lease = nil
	}
}

// fail ends a flight that is not whole.
func (f *flight) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failLocked(err)
}

func (f *flight) failLocked(err error) {
	if !f.whole && f.err == nil {
		f.err = err
		f.moved.Broadcast()
	}
}

// wait waits until ready, which is called with the lock held, or until ctx ends.
func (f *flight) wait(ctx context.Context, ready func() bool) error {
	if ready() {
		return nil
	}
	defer context.AfterFunc(ctx, f.wake)()
	for !ready() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f.moved.Wait()
	}
	return nil
}

func (f *flight) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moved.Broadcast()
}

// claim makes a delivery the feeder, which is to begin at offset, as soon as nobody
// else is, or the one who is sends nothing. It returns false when the flight has
// ended first.
func (f *flight) claim(ctx context.Context, d *delivery) (offset int64, feeds bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	stall := f.options.Silence / 2
	timer := time.AfterFunc(stall, f.wake)
	defer timer.Stop()
	err = f.wait(ctx, func() bool {
		left := stall - time.Since(f.last)
		if left > 0 {
			timer.Reset(left)
		}
		return f.ended || f.err == nil && (f.feeder == nil || left <= 0)
	})
	if err != nil || f.ended {
		return 0, false, errors.Join(err, f.err)
	}
	f.feeder, f.last = d, time.Now()
	return f.length, true, nil
}

// unclaim lets somebody else feed the flight, if d does.
func (f *flight) unclaim(d *delivery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.feeder == d {
		f.feeder = nil
		f.moved.Broadcast()
	}
}

// append takes a piece that belongs at an offset, from whom it comes: also from a
// feeder whose place was taken. What is there already is dropped, and so is what
// leaves a gap, which nobody sends who was told where to begin.
func (f *flight) append(d *delivery, offset int64, b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.length - offset
	if f.err != nil || f.whole || known < 0 || known >= int64(len(b)) {
		return
	}
	if f.source != d {
		f.source = nil
	}
	if f.length == 0 {
		f.source = d
	}
	n, err := f.part.Write(b[known:])
	f.length += int64(n)
	f.last = time.Now()
	f.moved.Broadcast()
	if err != nil {
		f.failLocked(err)
	}
}

// end waits for the end.
func (f *flight) end(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(ctx, func() bool { return f.ended }); err != nil {
		return err
	}
	return f.err
}

// isFrom reports whether all that has come was sent in one delivery.
func (f *flight) isFrom(d *delivery) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.source == d
}

// failing reports whether there is nothing to be had from a flight.
func (f *flight) failing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// await waits until there is more than have bytes, and returns how many.
func (f *flight) await(ctx context.Context, have int64) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.wait(ctx, func() bool { return f.length > have || f.err != nil }); err != nil {
		return 0, err
	}
	if f.err != nil {
		return 0, fmt.Errorf("blob %s: %w", f.blob.Sum.Short(), f.err)
	}
	return f.length, nil
}

// verify digests what comes, publishes it when it is right, and gives it up when
// something is wrong or ctx ends.
func (f *flight) verify(ctx context.Context) error {
	lease, err := f.land(ctx)
	if err != nil {
		f.fail(err)
		f.part.Discard()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orphan.Stop()
	f.lease, f.whole, f.ended = lease, err == nil, true
	f.releaseLocked()
	f.moved.Broadcast()
	return err
}

func (f *flight) land(ctx context.Context) (*cache.Blob, error) {
	for seen := int64(0); seen < f.blob.Size; {
		var err error
		if seen, err = f.await(ctx, seen); err != nil {
			return nil, err
		}
		if err := f.part.Digest(); err != nil {
			return nil, err
		}
	}
	return f.part.Publish()
}
