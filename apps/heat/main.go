// Heat is a rank program that computes how heat spreads in a plate, and draws it.
//
// The plate's rows are divided into one block a rank. In each step a rank computes
// its rows, and puts the first and the last of them into the halo of its
// neighbours' windows; a fence ends the step. Allreduce finds the greatest change,
// and at the end rank 0 gets all blocks, compares them with a serial computation,
// and writes the picture.
//
// Everything here runs on one goroutine a rank and takes no locks: fences alone
// order the accesses to the windows (solver.go says why one a step is enough).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/runtime/world"
)

func main() { os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr)) }

// realMain returns the exit code: 2 when the command line is wrong, 1 when the
// computation fails or differs from the serial one.
func realMain(args []string, out, errs io.Writer) int {
	opt, err := parseOptions(args, out)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(errs, "heat: %v\nheat --help tells how to use it\n", err)
		return 2
	}
	err = join(opt, out)
	if err == nil {
		return 0
	}
	fmt.Fprintf(errs, "heat: %v\n", err)
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

func join(opt options, out io.Writer) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	// A rank that fails does not leave: its exit code tells the others why.
	if err := run(ctx, comm, opt, out); err != nil {
		return err
	}
	return comm.Leave()
}
