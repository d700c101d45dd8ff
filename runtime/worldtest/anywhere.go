package worldtest

import (
	"context"
	"errors"
	"hash/fnv"
	"os"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/boot/bootstrap"
	"github.com/golaunch/golaunch/runtime/world"
)

// Anywhere is Run for bodies that share nothing but what ranks share: no variable
// of Go, only t. In a test binary that golaunch has started,
//
//	go test -c ./window && golaunch -n 3 ./window.test -test.v
//
// this process is a rank, and body is run as that rank of a new communicator of
// the job's first n ranks; the others wait until it has ended. So the same tests
// run across processes and hosts. The ranks must run the same tests. A job of
// fewer than n ranks leaves the body out, and says so.
//
// There a rank that fails by t.FailNow, or does not end well otherwise, takes no
// part any more: the process ends without leaving the job, whose other ranks then
// get a *world.RankFailedError or are stopped by golaunch.
//
// Bodies must not Leave or Abort, and the package needs a TestMain with Main.
func Anywhere(t testing.TB, n int, body func(ctx context.Context, comm *world.Comm)) {
	t.Helper()
	AnywhereHosts(t, 1, n, body)
}

// AnywhereHosts is Anywhere that without golaunch is RunHosts. Under golaunch the
// hosts are those of the job.
func AnywhereHosts(t testing.TB, hosts, ranksPerHost int, body func(ctx context.Context, comm *world.Comm)) {
	t.Helper()
	if !Launched() {
		RunHosts(t, hosts, ranksPerHost, body)
		return
	}
	launched.run(t, hosts*ranksPerHost, body)
}

// Launched tells whether golaunch, or a process manager, has started this process as
// a rank.
func Launched() bool { return os.Getenv(boot.EnvSocket) != "" || bootstrap.Claimed() }

// Alone skips a test that is not for ranks of a job: one that joins by itself, or
// starts processes of its own.
func Alone(t testing.TB) {
	t.Helper()
	if Launched() {
		t.Skip("worldtest: this test does not run as a rank of golaunch")
	}
}

// skipLaunched skips a test whose ranks are goroutines.
func skipLaunched(t testing.TB) {
	t.Helper()
	if Launched() {
		t.Skip("worldtest: the ranks of this test share Go memory: it does not run as a rank of golaunch")
	}
}

// launched is this process's part in a job. It is a variable of the package
// because a process joins once, and its tests know nothing of each other.
var launched rank

type rank struct {
	mu     sync.Mutex // held during a body
	main   bool       // Main will leave the job
	comm   *world.Comm
	failed error // takes no part any more, because of this
}

// run is the part of this process in one test.
func (r *rank) run(t testing.TB, n int, body func(context.Context, *world.Comm)) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.join(t.Context()); err != nil {
		t.Fatalf("worldtest: %v", err)
	}
	if n > r.comm.Size() {
		t.Logf("worldtest: left out: it takes %d ranks, and the job has %d", n, r.comm.Size())
		return
	}
	r.failed = errors.New("an earlier test has failed on this rank: " + t.Name())
	if err := r.take(t, n, body); err != nil {
		t.Fatalf("worldtest: rank %d: %v", r.comm.Rank(), err)
	}
	r.failed = nil
}

// join joins the job, if that has not happened.
func (r *rank) join(ctx context.Context) (err error) {
	switch {
	case !r.main:
		return errors.New("a rank of golaunch: TestMain must use worldtest.Main")
	case r.failed != nil:
		return r.failed
	case r.comm == nil:
		r.comm, err = world.Join(ctx)
	}
	return err
}

// take runs body on a communicator of its own, between two barriers of all ranks:
// a Split is one.
func (r *rank) take(t testing.TB, n int, body func(context.Context, *world.Comm)) error {
	color := world.Undefined
	if r.comm.Rank() < n {
		color = hash(t.Name())
	}
	comm, err := r.comm.Split(t.Context(), color, r.comm.Rank())
	if err != nil {
		return err
	}
	if comm != nil {
		if comm.Size() != n {
			return errors.New("the ranks do not run the same tests")
		}
		t.Logf("worldtest: rank %d of %d, of a job on %d", comm.Rank(), n, r.comm.Size())
		body(t.Context(), comm)
		var broken *world.BrokenError
		if err := comm.Free(t.Context()); err != nil && !errors.As(err, &broken) { // the body may have broken it
			return err
		}
	}
	_, err = r.comm.Split(t.Context(), world.Undefined, 0)
	return err
}

// hash is a color for a test.
func hash(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() >> 1)
}

// Main wraps m for a package that uses Anywhere:
//
//	func TestMain(m *testing.M) { os.Exit(worldtest.Main(m).Run()) }
func Main(m *testing.M) *M { return &M{m} }

// M is a testing.M of a process that may be a rank.
type M struct{ m *testing.M }

// Run runs the tests, leaves the job if that was joined and all went well, and
// returns the exit code.
func (m *M) Run() int {
	launched.main = true
	code := m.m.Run()
	if err := launched.leave(); err != nil {
		os.Stderr.WriteString("worldtest: " + err.Error() + "\n")
		return max(code, 1)
	}
	return code
}

// leave leaves the job unless this rank has failed: the others must see that.
func (r *rank) leave() error {
	if r.comm == nil || r.failed != nil {
		return nil
	}
	return r.comm.Leave()
}
