package launcher

import (
	"cmp"
	crypto "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/launcher/internal/lines"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/relay"
)

// A front is the state of the event loop.
type front struct {
	Options
	id      string
	secret  []byte // of the job
	began   time.Time
	job     *lifecycle.Job
	ranks   []rankInfo
	scratch string // where the supervisor builds

	programs []control.Program
	builds   map[string]string // directory of a package: path of its binary, "" before

	children *proc.Children
	hosts    []*host // in the order of their ranks

	// These are for jobs whose hosts join.
	tree      *relay.Root
	joiners   chan joiner
	strangers chan string
	gathered  chan struct{} // closed when no more hosts are wanted

	// These are for jobs over a cluster.
	agent        *api.Client
	obituaries   *obituaries
	cargoes      []cargo // what the programs need, each program once
	answer       api.PlaceAnswer
	blocks       []api.Block   // where the ranks go, in order
	advertise    string        // where other hosts reach this one
	usualTimeout time.Duration // the failure timeout there; 0: the constant of that name
	hopeless     chan error    // why hosts will not join
	builder      *host         // whose supervisor has built packages; nil: none
	ready        *os.File      // whoever has detached this job waits here; nil: nobody

	output *output
	stdin  control.Allowance // what may be read
	// stdinAllowed is what was allowed of it altogether.
	stdinAllowed int
	reads        bool // readStdin runs
	// unwritten says what became of output that could not be written.
	unwritten lifecycle.OutputLost

	messages chan news
	lost     chan loss
	signals  chan os.Signal
	later    chan func()   // what the loop is to do
	placed   chan struct{} // closed when every host has its ranks
}

// rankInfo is what the report tells of a rank, beyond lifecycle.Rank.
type rankInfo struct {
	program string
	pid     int
	joiner  int // the process that has joined
	exit    *control.Exited
	figures []byte // what it has reported
	stderr  lines.Tail
}

// secretSize is the length of a job's secret in bytes.
const secretSize = 32

// Run runs a job to its end and returns golaunch's exit code. It must be called
// once in a process's life.
func Run(o Options) int {
	if o.Detach && !o.Detached {
		return detach(o)
	}
	f, err := newFront(o)
	if err == nil && !o.overNetwork() {
		err = f.startSupervisors()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: %v\n", err)
		return exitCode(err)
	}
	switch {
	case o.OverCluster():
		err = f.recruit()
	case o.overNetwork():
		err = f.gather()
	}
	if err != nil {
		return f.concludeGathering(err)
	}
	f.begin()
	f.loop()
	return f.conclude()
}

// begin makes the job's state, once every host has its ranks. Supervisors that have
// joined have said hello.
func (f *front) begin() {
	c := lifecycle.Config{Ranks: f.size(), OnFailure: f.policy(), Timeout: lifecycle.Instant(f.Timeout)}
	for _, h := range f.hosts {
		c.Hosts = append(c.Hosts, h.ranks)
	}
	if f.overNetwork() {
		c.KillWait = lifecycle.KillWait + lifecycle.Instant(f.failureTimeout())
	}
	f.job = lifecycle.New(c)
	if f.overNetwork() {
		for _, h := range f.hosts {
			f.verbose("job %s: %s on %s (%s), supervised by process %d", f.id, ranksOf(h.ranks), h.name, h.where, h.pid)
		}
		f.launch()
	}
}

// newFront checks everything that can be checked before a process is started.
func newFront(o Options) (*front, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	f := &front{
		Options: o, began: time.Now(), id: newJobName(),
		ranks: make([]rankInfo, o.size()), builds: map[string]string{},
		secret: make([]byte, secretSize), messages: make(chan news), lost: make(chan loss, max(o.VirtualHosts, o.Hosts)), later: make(chan func(), 1),
		placed: make(chan struct{}), obituaries: newObituaries(),
	}
	crypto.Read(f.secret)
	var err error
	if o.Detached {
		if f.id, f.ready, err = enterDetached(); err != nil {
			return nil, fmt.Errorf("%s: golaunch starts this by itself: %w", DetachedName, err)
		}
	}
	var builds []string
	f.programs, builds, err = resolve(o.Segments, os.Environ(), []string{boot.EnvTerminal + "=" + terminals(o)})
	if err != nil {
		return nil, err
	}
	for _, dir := range builds {
		if o.Listen != "" {
			return nil, usage("%s: golaunch builds a package on one machine only: build it on every host, and name the binary", dir)
		}
		f.builds[dir] = ""
	}
	for _, p := range f.programs {
		for i := range p.Count {
			f.ranks[p.First+i].program = p.Args[0]
		}
	}
	if !o.overNetwork() {
		f.hosts = f.localHosts()
		f.place(blocks(o.size(), o.VirtualHosts))
	}
	f.scratch = filepath.Join(os.TempDir(), fmt.Sprintf("golaunch-%016x", rand.Uint64()))
	if f.output, err = newOutput(&o); err != nil {
		return nil, err
	}
	if f.children, err = proc.New(); err != nil {
		return nil, err
	}
	f.catchSignals()
	return f, nil
}

// failureTimeout is how long a host or a peer may be silent.
func (f *front) failureTimeout() time.Duration {
	return cmp.Or(f.FailureTimeout, f.usualTimeout, FailureTimeout)
}
