package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// How long a job's supervisor may take to end: by itself, when its job has had its
// end, and when it is told to.
const (
	endsByItself = 2 * time.Second
	endsIfTold   = 5 * time.Second
)

// Release gives back what a job holds, here and elsewhere.
func (a *Agent) Release(ctx context.Context, _ api.Caller, q api.ReleaseRequest) (api.Empty, error) {
	var mu sync.Mutex
	var errs []error
	each(q.Blocks, func(b api.Block) {
		if err := a.release(ctx, q, b); err != nil {
			mu.Lock()
			errs = append(errs, err)
			mu.Unlock()
		}
	})
	return api.Empty{}, errors.Join(errs...)
}

// releaseAll gives back what nobody waits for.
func (a *Agent) releaseAll(q api.ReleaseRequest) {
	ctx, cancel := context.WithTimeout(a.ctx, api.AskWait)
	a.running.Go(func() {
		defer cancel()
		if _, err := a.Release(ctx, api.Caller{}, q); err != nil {
			a.Log.Debug("reservations are left to time", "job", q.Job, "error", err)
		}
	})
}

func (a *Agent) release(ctx context.Context, q api.ReleaseRequest, b api.Block) error {
	if b.Host != a.Name {
		q.Blocks = []api.Block{b}
		return a.peer(Member{Name: b.Host, Address: b.Address}).Release(ctx, q)
	}
	a.mu.Lock()
	a.slots.Release(b.Token)
	j := a.jobs[q.Job]
	if j == nil && slices.Contains(a.slots.Running(), q.Job) {
		a.unwanted[q.Job] = b.Token
	}
	a.mu.Unlock()
	if j == nil || j.Token != b.Token {
		return nil
	}
	if q.Ended && j.endsWithin(ctx, endsByItself) {
		return nil
	}
	j.process.signal(syscall.SIGTERM)
	if !j.endsWithin(ctx, endsIfTold) {
		return api.Errorf(api.Failed, "host %s: job %s: its supervisor (process %d) does not end", a.Name, q.Job, j.PID)
	}
	return nil
}

// endsWithin waits for the end of a job.
func (j *job) endsWithin(ctx context.Context, d time.Duration) bool {
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-j.ended:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}
