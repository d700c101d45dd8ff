package launcher

import (
	"context"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// whileHeld has the job's reservations last as long as something is done that may take
// time, and gives it up when a host does not answer any more, or has no reservation.
func (f *front) whileHeld(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithCancelCause(ctx)
		kept := make(chan struct{})
		go func() { f.keepSlots(ctx, cancel); close(kept) }()
		err := do(ctx)
		if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
			err = cause
		}
		cancel(context.Canceled)
		<-kept
		return err
	}
}

// renewals is how often reservations are renewed in the time that they last.
const renewals = 4

// keepSlots renews the reservations, which are fresh, until ctx ends. A host that has not
// answered for three of their four quarters is lost: that is noticed before the last one
// is over, when its own agent has forgotten the reservation, too.
func (f *front) keepSlots(ctx context.Context, lost context.CancelCauseFunc) {
	hold := f.answer.Hold
	next := time.NewTicker(hold / renewals)
	defer next.Stop()
	answered := map[string]time.Time{}
	for _, b := range f.blocks {
		answered[b.Host] = time.Now()
	}
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
		asked := time.Now()
		answer, err := f.renew(ctx, hold)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && len(answer.Failures) > 0:
			lost(fmt.Errorf("host %s: %s", answer.Failures[0].Host, answer.Failures[0].Text))
			return
		case err == nil:
			note(answered, answer, asked)
		}
		for _, b := range f.blocks {
			if silent := time.Since(answered[b.Host]); silent >= f.patience(b.Host, hold) {
				lost(silentError{fmt.Sprintf("host %s has not answered for %v", b.Host, silent.Round(time.Millisecond))})
				return
			}
		}
	}
}

// renew renews the reservations, or does without this host's agent.
func (f *front) renew(ctx context.Context, hold time.Duration) (api.RenewAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, hold*2/renewals)
	defer cancel()
	return f.agent.Renew(ctx, api.RenewRequest{Job: f.id, Blocks: f.blocks, Hold: hold})
}

// note notes who has answered a renewal, and when it was asked for.
func note(answered map[string]time.Time, answer api.RenewAnswer, asked time.Time) {
	silent := map[string]bool{}
	for _, s := range answer.Silent {
		silent[s.Host] = true
	}
	for host := range answered {
		if !silent[host] {
			answered[host] = asked
		}
	}
}

// patience is how long a host may be silent; not so long if gossip is sure that it is
// dead.
func (f *front) patience(host string, hold time.Duration) time.Duration {
	if f.obituaries.has(host) {
		return hold * 2 / renewals
	}
	return hold * 3 / renewals
}
