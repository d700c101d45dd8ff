package main

import (
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/program"
)

// options is what the command line asks for. Every rank parses the same one.
type options struct {
	root       string // of the tree; "" is that of the installed Go
	modes      []string
	iterations int
	repeat     int
	top        int
	verify     bool
	json       bool
}

// The modes.
const (
	edges    = "edges"
	bulk     = "bulk"
	coherent = "coherent"
)

var allModes = []string{edges, bulk, coherent}

const usageText = `pagerank ranks the packages of a Go source tree, which is that of the installed Go
when no DIR is given, by who imports them. It compares ways to get the values that
other ranks have: by a Get for each import (edges), by one Get for each other rank
(bulk), by a Get for each import from a coherent window (coherent).

Usage:
  pagerank [flags] [DIR]

Examples:
  golaunch -n 4 ./bin/pagerank --mode edges,bulk           on one host
  golaunch -n 2 --virtual-hosts 2 ./bin/pagerank --json    between two hosts
`

const maxIterations = 1 << 20

// parseOptions reads the command line. pflag.ErrHelp means that help was asked
// for and has been written to help.
func parseOptions(args []string, help io.Writer) (options, error) {
	var opt options
	flags := program.Flags("pagerank", usageText, help)
	flags.StringSliceVar(&opt.modes, "mode", allModes, "how values are got: edges, bulk, coherent")
	flags.IntVar(&opt.iterations, "iterations", 20, "iterations, which are timed together")
	flags.IntVar(&opt.repeat, "repeat", 3, "runs, whose median time is shown; the modes take turns")
	flags.IntVar(&opt.top, "top", 10, "how many of the highest packages to print")
	flags.BoolVar(&opt.verify, "verify", true, "compare with a serial computation; exit with 1 when they differ")
	flags.BoolVar(&opt.json, "json", false, "print one JSON object a line")
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	opt.root = flags.Arg(0)
	if flags.NArg() > 1 {
		return opt, fmt.Errorf("unexpected argument %q", flags.Arg(1))
	}
	return opt, opt.check()
}

func (opt options) check() error {
	if err := bench.CheckModes(opt.modes, allModes, opt.repeat); err != nil {
		return err
	}
	switch {
	case opt.iterations < 1 || opt.iterations > maxIterations:
		return fmt.Errorf("--iterations %d: must lie between 1 and %d", opt.iterations, maxIterations)
	case opt.top < 0:
		return fmt.Errorf("--top %d: must not be negative", opt.top)
	}
	return nil
}
