package agent

import (
	"context"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// A front is a job's golaunch that is attached here.
type front struct {
	api.Front
	hosts   map[string]bool // whose death, and return, it wants to hear of
	notices chan api.Notice
}

// manyNotices is how far a front may be behind with notices that are not about its
// hosts.
const manyNotices = 16

func newFront(q api.AttachRequest) *front {
	f := &front{Front: q.Front, hosts: map[string]bool{}, notices: make(chan api.Notice, manyNotices+2*len(q.Hosts))}
	for _, h := range q.Hosts {
		f.hosts[h] = true
	}
	return f
}

// alivePause is how often an attached golaunch is told that its agent is there; the
// connection of one that is gone without a word breaks soon after.
const alivePause = 5 * time.Second

// Attach knows a job's golaunch until it goes. One that attaches again takes the place
// of its former self, whose connection may not have broken yet.
func (a *Agent) Attach(ctx context.Context, who api.Caller, q api.AttachRequest, send func(api.Notice) error) error {
	f := newFront(q)
	f.Host, f.Agent = a.Name, a.Name
	if !who.Local {
		f.Host = who.Address
	}
	a.mu.Lock()
	a.fronts[q.Job] = f
	for _, m := range a.members.Members() { // with mu held: what is news later is told later
		if m.State == "dead" && f.hosts[m.Name] {
			f.tell(api.Notice{Dead: m.Name})
		}
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		if a.fronts[q.Job] == f {
			delete(a.fronts, q.Job)
		}
		a.mu.Unlock()
	}()
	alive := time.NewTicker(alivePause)
	defer alive.Stop()
	var n api.Notice
	for {
		if err := send(n); err != nil {
			return err
		}
		select {
		case n = <-f.notices:
		case <-alive.C:
			n = api.Notice{}
		case <-ctx.Done():
			return nil
		case <-a.ctx.Done():
			return nil
		}
	}
}

// tell gives a front a notice. One that does not listen misses it. mu is held.
func (f *front) tell(n api.Notice) {
	select {
	case f.notices <- n:
	default:
	}
}

// Dead tells the golaunch of each job with ranks on a host that the host is dead, which
// gossip has confirmed.
func (a *Agent) Dead(host string) { a.tellOf(host, api.Notice{Dead: host}) }

// Alive tells them that it is back.
func (a *Agent) Alive(host string) { a.tellOf(host, api.Notice{Alive: host}) }

func (a *Agent) tellOf(host string, n api.Notice) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.fronts {
		if f.hosts[host] {
			f.tell(n)
		}
	}
}
