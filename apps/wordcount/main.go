// Wordcount is a rank program that counts the identifiers of Go source files
// into a hash table spread over a window.
//
// Each rank takes file after file, by FetchAdd on a shared counter, and counts
// into a map of its own. When there are no more files, the ranks agree by
// Allreduce on the size of the table, and add what they have to it with
// one-sided atomics (table.go has the protocol). Allreduce combines the totals,
// and rank 0 prints the commonest identifiers, which it fetches from wherever
// they lie.
//
// Everything here runs on one goroutine a rank and takes no locks but the
// windows' own: a shared lock on every rank of the window while the ranks use it
// one-sidedly, fences around that.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/runtime/world"
)

func main() { os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr)) }

// realMain returns the exit code: 2 when the command line is wrong, 1 when the
// count fails or --verify finds a difference.
func realMain(args []string, out, errs *os.File) int {
	opt, err := parseOptions(args, out)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(errs, "wordcount: %v\nwordcount --help tells how to use it\n", err)
		return 2
	}
	if err := join(opt, out, errs); err != nil {
		fmt.Fprintf(errs, "wordcount: %v\n", err)
		return 1
	}
	return 0
}

func join(opt options, out, errs *os.File) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err
	}
	// A rank that fails does not leave: its exit code tells the others why.
	if err := run(ctx, comm, opt, out, newProgress(errs)); err != nil {
		return err
	}
	return comm.Leave()
}
