package window

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/window/lock"
	"github.com/golaunch/golaunch/window/packet"
)

// A deputy has the place of an origin on another host at this rank's lock.
type deputy struct {
	service *service
	client  *client

	mu     sync.Mutex
	state  deputyState
	lock   lock.Lock // belongs to the goroutine while the state is waiting or releasing
	mode   lock.Mode // of what is held
	token  uint64    // of the request that waits
	cancel context.CancelCauseFunc
}

type deputyState uint8

const (
	idle deputyState = iota
	waitingForLock
	holding
	releasing
)

var (
	errWithdrawn = errors.New("the origin does not wait any more")
	errNotHeld   = errors.New("this rank does not hold its lock")
)

func lockMode(mode uint8) lock.Mode { return lock.Mode(mode) }

// request acquires the lock, or has a goroutine wait for it. Its answer says that it is
// held, or why not. A request may arrive after the news that its origin has failed: then nobody
// would give the lock back.
func (d *deputy) request(mode lock.Mode, p packet.Packet) {
	failed := d.failure()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case failed != nil:
		d.answer(&p, failed)
	case mode != lock.Shared && mode != lock.Exclusive:
		d.answer(&p, fmt.Errorf("mode %d", mode))
	case d.state != idle:
		d.answer(&p, errors.New("this rank already holds it, or waits for it"))
	case d.lock.TryAcquire(mode):
		d.state, d.mode = holding, mode
		d.answer(&p, nil)
	default:
		d.wait(mode, p)
	}
}

// failure is why the origin has failed, nil if it has not as far as this rank knows.
func (d *deputy) failure() error { return d.service.core.in.Failure(d.client.member) }

// wait is called with mu held.
func (d *deputy) wait(mode lock.Mode, p packet.Packet) {
	var ctx context.Context
	ctx, d.cancel = context.WithCancelCause(d.service.ctx)
	d.state, d.mode, d.token = waitingForLock, mode, p.Token
	p.Data = nil // the message's
	d.service.start(func() { d.acquire(ctx, p) })
}

func (d *deputy) acquire(ctx context.Context, p packet.Packet) {
	err := d.lock.Acquire(ctx, d.mode)
	if failed := d.failure(); failed != nil && err == nil {
		err = errors.Join(failed, d.lock.Release(d.mode))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = holding
	if err != nil {
		d.state = idle
	}
	d.cancel(nil)
	d.answer(&p, err)
}

// withdraw ends the wait of the request with that token. If it is over, the answer is on
// its way.
func (d *deputy) withdraw(token uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state == waitingForLock && d.token == token {
		d.cancel(errWithdrawn)
	}
}

// release gives the lock to whoever comes next. If that takes a moment it returns errBusy,
// unless it may wait.
func (d *deputy) release(wait bool) error {
	d.mu.Lock()
	if d.state != holding {
		d.mu.Unlock()
		return errNotHeld
	}
	if d.lock.TryRelease(d.mode) {
		d.state = idle
		d.mu.Unlock()
		return nil
	}
	if !wait {
		d.mu.Unlock()
		return errBusy
	}
	d.state = releasing
	d.mu.Unlock()
	err := d.lock.Release(d.mode)
	d.mu.Lock()
	d.state = idle
	d.mu.Unlock()
	return err
}

func (d *deputy) answer(p *packet.Packet, err error) { d.service.answer(d.client, p, nil, err) }
