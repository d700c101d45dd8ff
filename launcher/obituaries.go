package launcher

import (
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/relay"
)

// obituaries are what gossip says of the job's hosts: who is dead, confirmed. That alone
// ends no host. One that there is no way to is not waited for any longer
// (docs/launch-tree.md). Any goroutine may use it.
type obituaries struct {
	mu      sync.Mutex
	dead    map[string]bool        // by host
	streams map[string]*relay.Host // of those that have joined
}

func newObituaries() *obituaries {
	return &obituaries{dead: map[string]bool{}, streams: map[string]*relay.Host{}}
}

// note takes note of a host's death, or of its return.
func (o *obituaries) note(host string, dead bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dead[host] = dead
	if s := o.streams[host]; s != nil {
		s.SetDead(dead)
	}
}

// has reports whether a host is dead.
func (o *obituaries) has(host string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dead[host]
}

// joined takes note of a host's stream.
func (o *obituaries) joined(host string, s *relay.Host) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.streams[host] = s
	s.SetDead(o.dead[host])
}

// forget forgets all deaths.
func (o *obituaries) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for host, dead := range o.dead {
		if s := o.streams[host]; dead && s != nil {
			s.SetDead(false)
		}
	}
	clear(o.dead)
}
