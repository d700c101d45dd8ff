package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/program"
)

// options is what the command line asks for. Every rank parses the same one.
type options struct {
	kernels []string
	modes   []string
	size    int // of the problem, in the kernel's own measure; 0: the kernel's default
	steps   int // 0: the kernel's default
	repeat  int
	verify  bool
	json    bool
}

// The modes.
const (
	rma   = "rma"
	calls = "calls"
	loads = "loads"
)

var allModes = []string{rma, calls, loads}

const usageText = `dsm runs programs of the literature of distributed shared memory, all of them
unless some are named, in up to three modes: hand-written one-sided operations on
plain windows (rma), Get and Put on coherent windows (calls), loads and stores on
a coherent window's memory (loads). The result is checked against a serial
computation.

  sor    red-black successive over-relaxation; size: rows and columns
  lu     blocked LU factorisation, no pivoting; size: rows and columns
  is     integer sort, by counting; size: keys
  water  molecular dynamics, every pair; size: molecules
  tsp    travelling salesman, branch and bound; size: cities
  feed   random reads of everybody's words, additions to one's own; size: additions
         in a thousand accesses; steps: thousands of accesses
  mix    the same with additions to anybody's words

Usage:
  dsm [flags] [KERNEL...]

Examples:
  golaunch -n 4 ./bin/dsm --mode rma                   the whole table, of one mode
  golaunch -n 4 ./bin/dsm sor --mode rma --size 2048   one kernel
  golaunch -n 4 --virtual-hosts 2 ./bin/dsm lu --json  one kernel, between two hosts
`

const (
	maxSize  = 1 << 28
	maxSteps = 1 << 20
)

// parseOptions reads the command line. pflag.ErrHelp means that help was asked
// for and has been written to help.
func parseOptions(args []string, help io.Writer) (options, error) {
	var opt options
	flags := program.Flags("dsm", usageText, help)
	flags.StringSliceVar(&opt.modes, "mode", allModes, "how data moves: rma, calls, loads")
	flags.IntVar(&opt.size, "size", 0, "size of the problem (default the kernel's)")
	flags.IntVar(&opt.steps, "steps", 0, "time steps of sor and water, rounds of is (default the kernel's)")
	flags.IntVar(&opt.repeat, "repeat", 1, "runs, whose median time is shown; the modes take turns")
	flags.BoolVar(&opt.verify, "verify", true, "compare with a serial computation; exit with 1 when they differ")
	flags.BoolVar(&opt.json, "json", false, "print one JSON object a line")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	if opt.kernels = flags.Args(); len(opt.kernels) == 0 {
		opt.kernels = kernelNames()
	}
	return opt, opt.check()
}

func (opt options) check() error {
	for _, name := range opt.kernels {
		if !slices.Contains(kernelNames(), name) {
			return fmt.Errorf("unknown kernel %q: there are %s", name, strings.Join(kernelNames(), ", "))
		}
	}
	if err := bench.CheckModes(opt.modes, allModes, opt.repeat); err != nil {
		return err
	}
	switch {
	case opt.size < 0 || opt.size > maxSize:
		return fmt.Errorf("--size %d: must lie between 0 and %d", opt.size, maxSize)
	case opt.size > 0 && len(opt.kernels) != 1:
		return fmt.Errorf("--size %d: means something else to each kernel: name one", opt.size)
	case opt.steps < 0 || opt.steps > maxSteps:
		return fmt.Errorf("--steps %d: must lie between 0 and %d", opt.steps, maxSteps)
	}
	return nil
}
