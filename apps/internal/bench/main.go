package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/runtime/world"
)

// Transport is the name of the transport that carries the operations. There is
// one so far.
const Transport = "shm"

// Main is a benchmark's main: it reads the command line, joins, runs body on
// every rank and leaves. It returns the exit code: 2 when the command line is
// wrong, 1 when the benchmark fails.
func Main(s Spec, body func(ctx context.Context, comm *world.Comm, o Options, out io.Writer) error) int {
	o, err := s.Parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n%s --help tells how to use it\n", s.Name, err, s.Name)
		return 2
	}
	err = join(o, body)
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		return 2
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
		return 1
	}
	return 0
}

// A UsageError is a fault of the command line that shows only after joining.
type UsageError struct{ What string }

func (e *UsageError) Error() string { return e.What }

func join(o Options, body func(context.Context, *world.Comm, Options, io.Writer) error) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	// A rank that fails does not leave: its exit code tells the others why.
	if err := body(ctx, comm, o, os.Stdout); err != nil {
		return fmt.Errorf("rank %d: %w", comm.Rank(), err)
	}
	return comm.Leave()
}
