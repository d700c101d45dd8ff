package transporttest

import (
	"context"
	"sync"
	"sync/atomic"
)

// A bell is a rank's doorbell: a count of rings that can be waited for.
type bell struct {
	rings    atomic.Uint64
	sleepers atomic.Int64
	mu       sync.Mutex
	cond     sync.Cond
}

func (b *bell) init() { b.cond.L = &b.mu }

// ring is cheap while nobody sleeps.
func (b *bell) ring() {
	b.rings.Add(1)
	if b.sleepers.Load() > 0 {
		b.mu.Lock()
		b.cond.Broadcast()
		b.mu.Unlock()
	}
}

func (b *bell) count() uint64 { return b.rings.Load() }

// wait returns when the count is no longer seen, or ctx has ended. The caller
// arranges that the end of ctx rings.
func (b *bell) wait(ctx context.Context, seen uint64) {
	b.sleepers.Add(1)
	defer b.sleepers.Add(-1)
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.count() == seen && ctx.Err() == nil {
		b.cond.Wait()
	}
}

// until waits for a condition that changes only when the bell rings.
func (b *bell) until(ctx context.Context, condition func() (bool, error)) error {
	defer context.AfterFunc(ctx, b.ring)()
	for {
		seen := b.count()
		if done, err := condition(); done || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.wait(ctx, seen)
	}
}
