package launcher

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/relay"
)

// A host is where some neighbouring ranks of the job are, all below one
// supervisor.
type host struct {
	// These do not change once receive runs.
	number       int // these four once the front has placed the hosts
	first, ranks int // its ranks
	slots        int // how many it takes; 0: any number
	name         string
	where        string // its address, if it has joined over a network
	conn         *control.Conn
	stream       *relay.Host   // below conn; nil: it is this process's child
	pid          int           // of the supervisor's process, here or there
	ended        chan struct{} // closed when the supervisor ended; nil: it is not this process's child
	exit         proc.Exit     // how it ended, once it has

	// The loop owns these.
	greeted bool // its supervisor has said hello
	over    bool // its supervisor is done or lost
	lost    bool
	unread  bool // its ranks read no stdin any more
	granted int  // how much of stdin its ranks took or have room for
}

// News is a message of a host's supervisor.
type news struct {
	from *host
	m    control.Message
}

// A loss says why a host's supervisor is gone; everything is cleared up.
type loss struct {
	host   *host
	reason string
}

// blocks divides ranks among hosts: neighbours stay together, sizes differ by one
// at most.
func blocks(ranks, hosts int) []int {
	sizes := make([]int, hosts)
	for i := range sizes {
		sizes[i] = ranks / hosts
		if i < ranks%hosts {
			sizes[i]++
		}
	}
	return sizes
}

// localHosts are the hosts that this machine plays.
func (f *front) localHosts() (hosts []*host) {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	for i := range f.VirtualHosts {
		h := &host{name: name}
		if f.VirtualHosts > 1 {
			h.name = fmt.Sprintf("%s/%d", name, i)
		}
		hosts = append(hosts, h)
	}
	return hosts
}

// place numbers the hosts and gives each its ranks. It is called once.
func (f *front) place(sizes []int) {
	first := 0
	for i, h := range f.hosts {
		h.number, h.first, h.ranks = i, first, sizes[i]
		first += sizes[i]
	}
	close(f.placed)
}

// hostOf is the host of a rank.
func (f *front) hostOf(rank int) *host {
	for _, h := range f.hosts {
		if rank < h.first+h.ranks {
			return h
		}
	}
	return f.hosts[len(f.hosts)-1]
}

// programsOf are what a host's ranks run.
func (f *front) programsOf(h *host) (programs []control.Program) {
	for _, p := range f.programs {
		first, end := max(p.First, h.first), min(p.First+p.Count, h.first+h.ranks)
		if first < end {
			p.First, p.Count = first, end-first
			if f.OverCluster() {
				p = f.aboard(h, p)
			}
			programs = append(programs, p)
		}
	}
	return programs
}

// send sends a message to every supervisor that is there.
func (f *front) send(m control.Message) { f.tellOthers(nil, m) }

// tellOthers sends a message to every supervisor but one. Over the launch tree that
// one gets it, too, and ignores it.
func (f *front) tellOthers(but *host, m control.Message) {
	if f.tree != nil && f.job != nil { // the tree has the job's hosts, and nobody else
		f.tree.SendAll(control.Frame(m))
		return
	}
	for _, h := range f.hosts {
		if h != but && !h.over {
			h.conn.Send(m)
		}
	}
}

// receive hands a supervisor's messages to the loop. When they end before Done, it
// clears up what the supervisor could not.
func (f *front) receive(h *host) {
	for {
		m, err := h.conn.Receive()
		if err == nil {
			<-f.placed
			err = sound(h, m)
		}
		if err != nil {
			f.lost <- loss{h, f.clearUp(h, err)}
			return
		}
		f.messages <- news{h, m}
		if _, ok := m.(*control.Done); ok {
			return
		}
	}
}

// clearUp kills everything that a supervisor has left behind, and says what became
// of it.
func (f *front) clearUp(h *host, err error) string {
	if h.ended == nil {
		h.conn.Close() // if it is there, it kills everything by itself
		return fmt.Sprintf("host %s (%s) was lost: %s", h.name, h.where, lossText(err))
	}
	who := fmt.Sprintf("the supervisor (process %d)", h.pid)
	if len(f.hosts) > 1 {
		who = fmt.Sprintf("the supervisor of host %s (process %d)", h.name, h.pid)
		f.killHost(h)
	} else {
		f.killAll()
	}
	if h.number == 0 {
		os.RemoveAll(f.scratch)
	}
	select {
	case <-h.ended:
		return fmt.Sprintf("%s %s", who, endingOf(h.exit.Code, int(h.exit.Signal), h.exit.CoreDumped))
	default:
	}
	return fmt.Sprintf("the connection to %s broke: %v", who, err)
}

// lossText says how the connection to a host ended.
func lossText(err error) string {
	if err == io.EOF {
		return "its supervisor has closed the connection"
	}
	return err.Error()
}

// killHost kills a supervisor that this process has started and what it leaves
// behind. A process that is stuck in the kernel dies later.
func (f *front) killHost(h *host) {
	f.children.SignalGroup(h.pid, syscall.SIGKILL)
	inTime(func() { <-h.ended; f.children.KillOrphans() })
}

// killAll kills every descendant, the supervisors too, and reports whether all are
// dead. A process that is stuck in the kernel dies later.
func (f *front) killAll() bool { return inTime(func() { f.children.KillAll() }) }

// inTime reports whether do has returned after KillWait.
func inTime(do func()) bool {
	done := make(chan struct{})
	go func() { do(); close(done) }()
	select {
	case <-done:
		return true
	case <-time.After(time.Duration(lifecycle.KillWait)):
		return false
	}
}
