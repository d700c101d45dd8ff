package bootstrapped

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window"
)

// roles are what ranks of these tests do.
var roles = map[string]func() error{
	"hello":   func() error { return joined(hello) },
	"relay":   func() error { return joined(relay) },
	"fail":    func() error { return joined(fail) },
	"abort":   func() error { return joined(abort) },
	"meet":    func() error { return joined(meet) },
	"silent":  func() error { return joined(silent) },
	"version": otherVersion,
	"twice":   twice,
	"pod":     bePod,
}

// joined joins and leaves around a body.
func joined(body func(context.Context, *world.Comm) error) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	return errors.Join(body(ctx, comm), comm.Leave())
}

// hello has every rank put a word into every other's window, and tells by which
// paths.
func hello(ctx context.Context, comm *world.Comm) error {
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
	fmt.Printf("rank %d of %d on %s reached all by %v\n", comm.Rank(), comm.Size(), comm.Host(), paths)
	return win.Free(ctx)
}

// word is what a rank says.
func word(rank int) []byte { return fmt.Appendf(nil, "hello from%3d", rank) }

// relay has the first rank, which has started the helper, leave first; the others
// then make windows, which takes the helper.
func relay(ctx context.Context, comm *world.Comm) error {
	color := 0
	if comm.Rank() == 0 {
		color = world.Undefined
	}
	rest, err := comm.Split(ctx, color, comm.Rank())
	if err != nil || rest == nil {
		return err
	}
	var message [1]byte
	if _, err := world.Recv(ctx, comm, 0, 1, message[:]); err == nil { // nothing comes: rank 0 has gone
		return errors.New("rank 0 has not gone")
	}
	return errors.Join(hello(ctx, rest), rest.Free(ctx))
}

// fail has the last rank fail while the others wait for it.
func fail(ctx context.Context, comm *world.Comm) error {
	if comm.Rank() == comm.Size()-1 {
		os.Exit(3)
	}
	return collectives.Barrier(ctx, comm)
}

// silent has the last rank end as if all were well while the others wait for it.
func silent(ctx context.Context, comm *world.Comm) error {
	if comm.Rank() == comm.Size()-1 {
		os.Exit(0)
	}
	err := collectives.Barrier(ctx, comm)
	if err == nil {
		fmt.Println(met)
	}
	return err
}

// met is what a rank of silent says that has met one that is gone.
const met = "all have met"

// abort has the last rank abort the job, and be ended as Slurm would have it: that
// does not always tell of an aborted job.
func abort(ctx context.Context, comm *world.Comm) error {
	if comm.Rank() == comm.Size()-1 {
		if err := comm.Abort(42); err != nil {
			return err
		}
		os.Exit(42)
	}
	return collectives.Barrier(ctx, comm)
}

// envDir is a directory of the test.
const envDir = "GOLAUNCH_TEST_DIR"

// meet has all ranks meet until one fails, and leaves word of that.
func meet(ctx context.Context, comm *world.Comm) error {
	fmt.Printf("rank %d is process %d\n", comm.Rank(), os.Getpid())
	var err error
	for err == nil {
		err = collectives.Barrier(ctx, comm)
	}
	var failed *world.RankFailedError
	if !errors.As(err, &failed) {
		return err
	}
	return os.WriteFile(filepath.Join(os.Getenv(envDir), fmt.Sprint("rank-", comm.Rank())), []byte(failed.Error()), 0o600)
}

// otherVersion has rank 1 be of another version.
func otherVersion() error {
	if os.Getenv("PMI_RANK") == "1" {
		boot.Version = "0.0.1"
	}
	return joined(hello)
}

// twice joins twice.
func twice() error {
	if err := joined(hello); err != nil {
		return err
	}
	_, err := world.Join(context.Background())
	if err == nil {
		return errors.New("a process has joined twice")
	}
	fmt.Println(err)
	return nil
}
