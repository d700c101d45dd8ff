package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/runtime/world"
)

// Exit codes.
const (
	Success = 0
	Failure = 1 // of the run, or a difference that a check has found
	Usage   = 2 // the command line is wrong
)

// A Program is a rank program with options of type O. Every rank parses the same
// command line.
type Program[O any] struct {
	Name string

	// Parse reads the command line. pflag.ErrHelp means that help was asked for and
	// has been written to help. It happens before there is a rank.
	Parse func(args []string, help io.Writer) (O, error)

	// Run is the program of one rank. Rank 0 writes the results to out.
	Run func(ctx context.Context, comm *world.Comm, opt O, out io.Writer) error
}

// Main runs the program with what the process was started with, and returns the
// exit code.
func (p Program[O]) Main() int { return p.Start(os.Args[1:], os.Stdout, os.Stderr) }

// Start runs the program and returns the exit code. Results and help go to out,
// errors to errs.
func (p Program[O]) Start(args []string, out, errs io.Writer) int {
	opt, err := p.Parse(args, helpWriter(out))
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return Success
	case err != nil:
		fmt.Fprintf(errs, "%s: %v\n%s --help tells how to use it\n", p.Name, err, p.Name)
		return Usage
	}
	if err := p.join(opt, out); err != nil {
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return exitCode(err)
	}
	return Success
}

// join runs the program as a rank.
func (p Program[O]) join(opt O, out io.Writer) error {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return err // there is no rank to name but the one that it names
	}
	rank := comm.Rank()
	if err := p.Run(ctx, comm, opt, out); err != nil {
		return named(rank, err)
	}
	return named(rank, comm.Leave())
}
