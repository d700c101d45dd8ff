package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/slots"
)

// Renew has reservations last longer, here and elsewhere. It waits for nobody for more
// than a quarter of the time that they are to last, so that the next round is in time for
// the others.
func (a *Agent) Renew(ctx context.Context, _ api.Caller, q api.RenewRequest) (api.RenewAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Hold/4)
	defer cancel()
	var mu sync.Mutex
	var answer api.RenewAnswer
	each(q.Blocks, func(b api.Block) {
		got := a.renew(ctx, q, b)
		mu.Lock()
		defer mu.Unlock()
		answer.Silent = append(answer.Silent, got.Silent...)
		answer.Failures = append(answer.Failures, got.Failures...)
	})
	return answer, nil
}

func (a *Agent) renew(ctx context.Context, q api.RenewRequest, b api.Block) (answer api.RenewAnswer) {
	if b.Host != a.Name {
		q.Blocks = []api.Block{b}
		answer, err := a.peer(Member{Name: b.Host, Address: b.Address}).Renew(ctx, q)
		if err != nil {
			answer.Silent = []api.Failure{{Host: b.Host, Text: err.Error()}}
		}
		return answer
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if !a.slots.Renew(q.Job, b.Token, now+slots.Instant(q.Hold), now) {
		why := fmt.Sprintf("job %s has no reservation any more: its time is over, or the agent was restarted", q.Job)
		answer.Failures = []api.Failure{{Host: a.Name, Text: why}}
	}
	return answer
}
