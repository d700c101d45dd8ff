package crosshost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
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

// secret is what ranks send each other in hello.
const secret = "what nobody on the way should read: "

// hello has every rank put a word into every other's window, and tells by which
// paths, and how long that has taken from joining on.
func hello() error {
	ctx := context.Background()
	begin := time.Now()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	win, err := window.Allocate[byte](ctx, comm, comm.Size()*len(word(0)))
	if err != nil {
		return err
	}
	if err := win.Fence(ctx); err != nil {
		return err
	}
	paths := make([]string, comm.Size())
	for to := range paths {
		paths[to] = win.Path(to)
		if err := win.Put(to, comm.Rank()*len(word(0)), word(comm.Rank())); err != nil {
			return err
		}
	}
	if err := win.Fence(ctx); err != nil {
		return err
	}
	for from := range paths {
		if got := win.Local()[from*len(word(0)):][:len(word(0))]; !bytes.Equal(got, word(from)) {
			return fmt.Errorf("rank %d has got %q from rank %d", comm.Rank(), got, from)
		}
	}
	fmt.Printf("rank %d on %s reached all by %v in %d us\n", comm.Rank(), comm.Host(), paths, time.Since(begin).Microseconds())
	return errors.Join(win.Free(ctx), comm.Leave())
}

// word is what a rank says.
func word(rank int) []byte { return fmt.Appendf(nil, "%s%3d", secret, rank) }
