package main

import (
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/program"
)

// options is what the command line asks for. Every rank parses the same one.
type options struct {
	n      int    // rows and columns of the plate
	steps  int    // time steps
	every  int    // steps between two reports of the residual
	out    string // picture to write; none when empty
	verify bool   // compare with the serial result
}

const usageText = `heat computes how heat spreads in a copper plate: two pipes are wound through it
as a double spiral, one at 100 degrees, the other at 0, and the rim is held at
20. Explicit finite differences; the rows are divided among the ranks, which
put the rows at their borders into each other's windows. The result is the
same, bit for bit, for any number of ranks.

Usage:
  heat [flags]

Examples:
  golaunch -n 4 ./bin/heat                        write heat.png with 4 ranks
  golaunch -n 2 ./bin/heat --n 1024 --steps 20000 a finer plate, for longer
  ./bin/heat --steps 0 --out start.png            the plate before anything moves
`

const (
	minN = 3
	maxN = 1 << 14

	// verifyUpTo is how many cell updates are checked by default: a serial
	// computation of them takes seconds.
	verifyUpTo = 2_000_000_000

	reports = 8 // residuals that are reported unless --every says otherwise
)

// parseOptions reads the command line. pflag.ErrHelp means that help was asked
// for and has been written to help.
func parseOptions(args []string, help io.Writer) (options, error) {
	var opt options
	flags := program.Flags("heat", usageText, help)
	flags.IntVar(&opt.n, "n", 512, "rows and columns of the plate")
	flags.IntVar(&opt.steps, "steps", 4000, "time steps")
	flags.IntVar(&opt.every, "every", 0, "steps between two reports of the residual (default steps/8)")
	flags.StringVar(&opt.out, "out", "heat.png", "picture to write; \"\" for none")
	flags.BoolVar(&opt.verify, "verify", false, "compare with a serial computation; exit with 1 when they differ (default true up to 2e9 cell updates)")
	if err := program.ParseOnly(flags, args); err != nil {
		return opt, err
	}
	if !flags.Changed("verify") {
		opt.verify = opt.updates() <= verifyUpTo
	}
	if !flags.Changed("every") {
		opt.every = max(1, opt.steps/reports)
	}
	return opt, opt.check()
}

// updates is how many times a cell is computed.
func (opt options) updates() float64 {
	return float64(opt.n) * float64(opt.n) * float64(opt.steps)
}

func (opt options) check() error {
	switch {
	case opt.n < minN || opt.n > maxN:
		return fmt.Errorf("--n %d: must lie between %d and %d", opt.n, minN, maxN)
	case opt.steps < 0:
		return fmt.Errorf("--steps %d: must not be negative", opt.steps)
	case opt.every < 1:
		return fmt.Errorf("--every %d: must be at least 1", opt.every)
	}
	return nil
}
