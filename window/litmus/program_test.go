package litmus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// An order is what a test wants ranks to do; it travels in their environment.
type order struct {
	Program string
	Kinds   []string
	Budget  time.Duration // of each part
	Seed    uint64
	All     bool // placements of each shape, rather than one of them
	layout
}

const orderVariable = "GOLAUNCH_LITMUS"

// programs are what ranks do. Rank 0 writes one JSON object a line.
var programs = map[string]func(r *rank) error{
	"trials":  trialsProgram,
	"locks":   locksProgram,
	"history": historyProgram,
}

// A rank is one process of a job.
type rank struct {
	order
	ctx  context.Context
	comm *world.Comm
	out  io.Writer
}

func (r *rank) me() int    { return r.comm.Rank() }
func (r *rank) ranks() int { return r.comm.Size() }

func (r *rank) tell(v any) error {
	if r.me() != 0 {
		return nil
	}
	return json.NewEncoder(r.out).Encode(v)
}

// limit is how long a job may take beyond what its parts do, where others use the machine,
// as they do for most of a soak.
func limit() time.Duration { return budget(2*time.Minute, 20*time.Minute) }

func TestMain(m *testing.M) {
	text := os.Getenv(orderVariable)
	if text == "" {
		goleak.VerifyTestMain(worldtest.Main(m), goleak.Cleanup(func(code int) {
			os.RemoveAll(tools)
			os.Exit(code)
		}))
		return
	}
	if err := obey(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// obey is the whole life of a rank.
func obey(text string) error {
	r := rank{out: os.Stdout}
	if err := json.Unmarshal([]byte(text), &r.order); err != nil {
		return err
	}
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithTimeoutCause(context.Background(), r.deadline(), errors.New("the test's deadline"))
	defer cancel()
	var err error
	if r.comm, err = world.Join(r.ctx); err != nil {
		return err
	}
	runtime.GOMAXPROCS(r.Procs) // Join may have raised it
	stop := litter()
	err = programs[r.Program](&r)
	stop()
	return errors.Join(err, r.comm.Leave())
}

func (o order) deadline() time.Duration { return limit() + 200*o.Budget }

// litter makes garbage and collects it, until it is stopped. It pauses for ten times as long
// as that takes: where ranks have more threads than there are cores, to stop the world takes
// milliseconds.
func litter() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		var garbage [16][]byte
		for i := 0; ctx.Err() == nil; i++ {
			began := time.Now()
			garbage[i%len(garbage)] = make([]byte, 64<<10)
			runtime.GC()
			select {
			case <-time.After(max(10*time.Since(began), 2*time.Millisecond)):
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// tools is where golaunch is built, if it is.
var tools string

var golaunch = sync.OnceValues(func() (string, error) {
	var err error
	if tools, err = os.MkdirTemp("", "litmus-test"); err != nil {
		return "", err
	}
	command := filepath.Join(tools, "golaunch")
	out, err := exec.Command("go", "build", "-o", command, "../../launcher/golaunch").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return command, nil
})

// launch has the ranks of hosts do as they are ordered, and returns what rank 0 writes.
func launch(t *testing.T, l layout, ranks int, o order) []byte {
	t.Helper()
	o.layout = l
	worldtest.Alone(t)
	command, err := golaunch()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), o.deadline()+10*time.Second)
	defer cancel()
	args := []string{"-n", fmt.Sprint(ranks), os.Args[0]}
	if l.Hosts > 1 {
		args = append([]string{"--virtual-hosts", fmt.Sprint(l.Hosts)}, args...)
	}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s on %v: %v\n%s", o.Program, l, err, out)
	}
	return out
}

// A layout is where ranks are, how many cores of Go each has, and how coherent windows are
// cached.
type layout struct {
	Hosts, Procs int
	CacheLimit   int // 0: none
	FirstTouch   bool
}

func (l layout) String() string {
	s := fmt.Sprintf("%d hosts, GOMAXPROCS %d", l.Hosts, l.Procs)
	if l.CacheLimit > 0 {
		s += fmt.Sprintf(", %d bytes of cache", l.CacheLimit)
	}
	if l.FirstTouch {
		s += ", first touch"
	}
	return s
}

func soaking() bool { return os.Getenv("GOLAUNCH_SOAK") != "" }

// layouts are all where there is time, and else each number once.
func layouts() []layout {
	if !soaking() {
		return []layout{{Hosts: 1, Procs: 2}, {Hosts: 2, Procs: 1}, {Hosts: 4, Procs: 4}, {Hosts: 4, Procs: 2, CacheLimit: small}}
	}
	var all []layout
	for _, hosts := range []int{1, 2, 4} {
		for _, procs := range []int{1, 2, 4} {
			all = append(all, layout{Hosts: hosts, Procs: procs})
		}
		if hosts > 1 {
			all = append(all, layout{Hosts: hosts, Procs: 2, CacheLimit: small}, layout{Hosts: hosts, Procs: 2, FirstTouch: true})
		}
	}
	return all
}

// small is a cache that has no room for two locations that are apart.
const small = page * 8

// ranks is how many each job has, whatever the layout.
const ranks = 4

// budget is short, or long where there is time.
func budget(short, long time.Duration) time.Duration {
	if soaking() {
		return long
	}
	return short
}
