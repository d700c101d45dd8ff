package window_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
	"github.com/golaunch/golaunch/window"
)

// A rank is what the bodies of tests work with; it is the context of its calls.
type rank struct {
	context.Context
	t    *testing.T
	comm *world.Comm
}

func (r rank) Helper()                           { r.t.Helper() }
func (r rank) Errorf(format string, args ...any) { r.t.Helper(); r.t.Errorf(format, args...) }

// limit is how long a test's ranks may take together.
const limit = time.Minute

// run runs body as each of n ranks, in every layout. The bodies share no variables but t
// and constants: under golaunch they are processes.
func run(t *testing.T, n int, body func(r rank)) {
	t.Helper()
	for _, hosts := range layouts(n) {
		t.Run(fmt.Sprintf("%d ranks on %d hosts", n, hosts), func(t *testing.T) { worldtest.AnywhereHosts(t, hosts, n/hosts, limited(t, body)) })
	}
}

// layouts are on how many hosts n ranks may be: on one, on two, each on its own. Under
// golaunch that is not for the test to say.
func layouts(n int) []int {
	all := []int{1}
	if worldtest.Launched() {
		return all
	}
	if n%2 == 0 && n > 2 {
		all = append(all, 2)
	}
	if n > 1 {
		all = append(all, n)
	}
	return all
}

// runOn runs body as each of the ranks of several hosts, which may share variables.
func runOn(t *testing.T, hosts, each int, body func(r rank)) {
	t.Helper()
	worldtest.RunHosts(t, hosts, each, limited(t, body))
}

// limited is body with a limit to its time.
func limited(t *testing.T, body func(r rank)) func(context.Context, *world.Comm) {
	return func(ctx context.Context, comm *world.Comm) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		body(rank{ctx, t, comm})
	}
}

// no ends the rank if there is an error.
func (r rank) no(err error) {
	r.Helper()
	if err != nil {
		r.Errorf("rank %d: %v", r.comm.Rank(), err)
		r.t.FailNow() // the others get this rank's failure
	}
}

// allocate makes a window.
func allocate[T any](r rank, n int, opts ...window.Option) *window.Window[T] {
	r.Helper()
	w, err := window.Allocate[T](r, r.comm, n, flavour(opts)...)
	r.no(err)
	return w
}

// coherentVariable, when it is set, has the windows of all tests be coherent, those of
// processes that a test starts as well: "watched"; "unwatched", where no process may watch
// pages; "limited" to a page of cache; or "placed" by first touch.
const coherentVariable = "GOLAUNCH_TEST_COHERENT"

func coherent() bool { return os.Getenv(coherentVariable) != "" }

func unwatched() bool { return os.Getenv(coherentVariable) == "unwatched" }

func flavour(opts []window.Option) []window.Option {
	switch os.Getenv(coherentVariable) {
	case "":
		return opts
	case "limited":
		opts = append(opts, window.CacheLimit(os.Getpagesize()))
	case "placed":
		opts = append(opts, window.FirstTouch)
	}
	return append(opts, window.Coherent)
}

// part is the rank's own part, which must be locked by nobody.
func part[T any](r rank, w *window.Window[T]) []T {
	r.Helper()
	if !unwatched() {
		return w.Local()
	}
	own := make([]T, w.Size(r.comm.Rank()))
	r.no(w.LockAll(r))
	r.no(w.Get(r.comm.Rank(), 0, own))
	r.no(w.UnlockAll())
	return own
}

// must is the value of a call that also returns an error.
func must[V any](r rank) func(V, error) V {
	return func(v V, err error) V {
		r.Helper()
		r.no(err)
		return v
	}
}
