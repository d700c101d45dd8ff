package launcher

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// attachPause is how long golaunch waits before it looks for its agent again.
const attachPause = 500 * time.Millisecond

// attach makes the job known to the agent for as long as golaunch runs, whatever
// becomes of the agent meanwhile.
func (f *front) attach() {
	q := api.AttachRequest{Job: f.id, Front: api.Front{
		PID: os.Getpid(), User: userName(), Ranks: f.size(), Command: f.commandText(), Started: f.began, Detached: f.Detached,
	}}
	for _, b := range f.blocks {
		q.Hosts = append(q.Hosts, b.Host)
	}
	go func() {
		for {
			f.obituaries.forget() // the agent begins anew
			f.agent.Attach(context.Background(), q, f.noticed)
			time.Sleep(attachPause)
		}
	}()
}

// noticed follows what the agent says. golaunch kill is a SIGTERM: it means the same
// in every phase of the job.
func (f *front) noticed(n api.Notice) {
	switch {
	case n.Kill:
		f.signals <- syscall.SIGTERM
	case n.Dead != "":
		f.obituaries.note(n.Dead, true)
	case n.Alive != "":
		f.obituaries.note(n.Alive, false)
	}
}
