package crosshost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// roles are what ranks of these tests do. Their argument is a directory of the test.
var roles = map[string]func() error{
	"busy":  func() error { return meetUntilFailure(func(*world.Comm) bool { return false }) },
	"quiet": func() error { return meetUntilFailure(isLast) },
	"hello": hello,
}

func isLast(comm *world.Comm) bool { return comm.Rank() == comm.Size()-1 }

// meetUntilFailure has all ranks meet in barriers. Those that are absent wait in
// another communicator, where nobody comes: nothing is under way then that could
// remain unacknowledged.
func meetUntilFailure(absent func(*world.Comm) bool) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	elsewhere, err := comm.Dup(ctx)
	if err == nil {
		err = collectives.Barrier(ctx, comm)
	}
	if err != nil {
		return err
	}
	fmt.Println("ready")
	meet := comm
	if absent(comm) {
		meet = elsewhere
	}
	for err == nil {
		err = collectives.Barrier(ctx, meet)
	}
	return errors.Join(bequeath(comm.Rank(), err), comm.Leave())
}

// A bequest is what a rank says of its end.
type bequest struct {
	at     time.Time
	failed int // the rank that its error names; -1: none
	text   string
}

// bequeath leaves a bequest where the test finds it, whatever becomes of the hosts.
func bequeath(rank int, err error) error {
	b := bequest{time.Now(), -1, err.Error()}
	var failed *world.RankFailedError
	if errors.As(err, &failed) {
		b.failed = failed.Rank
	}
	name := filepath.Join(os.Args[1], fmt.Sprint("rank-", rank))
	return os.WriteFile(name, fmt.Appendf(nil, "%d %d %s", b.at.UnixNano(), b.failed, b.text), 0o600)
}

// readBequest reads it.
func readBequest(dir string, rank int) (b bequest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("rank-", rank)))
	if err != nil {
		return b, err
	}
	var at int64
	if _, err := fmt.Sscan(string(text), &at, &b.failed); err != nil {
		return b, err
	}
	b.at, b.text = time.Unix(0, at), string(text)
	return b, nil
}

// hello has every rank hear of every other one, and tells how long the first
// contact has taken.
func hello() error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	in, out := []int64{1 << comm.Rank()}, []int64{0}
	if err := collectives.Allreduce(ctx, comm, in, out, collectives.Sum); err != nil {
		return err
	}
	if want := int64(1)<<comm.Size() - 1; out[0] != want {
		return fmt.Errorf("rank %d has heard of %b, want %b", comm.Rank(), out[0], want)
	}
	fmt.Printf("rank %d on %s: connected in %d us\n", comm.Rank(), comm.Host(), time.Since(begin).Microseconds())
	return comm.Leave()
}
