// Compare measures golaunch, Open MPI and MPICH side by side and writes the
// measured part of docs/performance.md, its chart and the raw results.
//
// It builds the rank programs and their C counterparts (apps/peers/c), and runs
// them in turns: round after round, case after case, one contender after the
// other, so that a slow minute of the machine falls on all of them. Where the cores'
// distance from each other changed meanwhile, they run again. A figure is the median
// over the rounds.
//
// Everything runs on one goroutine, but for the one that helps to measure the
// distance.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := realMain(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// realMain returns the exit code: 2 when the command line is wrong or something
// must be installed first, 1 when a run fails.
func realMain(ctx context.Context, args []string, out, progress io.Writer) int {
	err := command(ctx, args, out, progress)
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(progress, "compare: %v\n", err)
		return 2
	}
	fmt.Fprintf(progress, "compare: %v\n", err)
	return 1
}

func command(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parseOptions(args, out)
	if err != nil {
		return err
	}
	if o.docs != "" {
		if err := pageExists(o.docs); err != nil {
			return err
		}
	}
	run, err := o.results(ctx, progress)
	if err != nil {
		return err
	}
	fmt.Fprint(out, report.Measured(run))
	if o.docs == "" {
		return nil
	}
	return publish(ctx, o.docs, run, progress)
}

// results measures, or reads what an earlier run left.
func (o options) results(ctx context.Context, progress io.Writer) (report.Run, error) {
	if o.from == "" {
		return measure(ctx, o, progress)
	}
	file, err := os.Open(o.from)
	if err != nil {
		return report.Run{}, err
	}
	run, err := report.Read(file)
	return run, errors.Join(err, file.Close())
}
