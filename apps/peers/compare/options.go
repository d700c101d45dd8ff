package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// A usageError is the user's to mend: exit code 2.
type usageError struct{ what string }

func (e *usageError) Error() string { return e.what }

type options struct {
	peers   []string
	rounds  int
	batches int
	tries   int // of a run that others disturb
	turns   int // of all contenders at a case, while the cores' distance changes
	divide  int // for every benchmark; 0 leaves it to them
	only    []string
	docs    string // directory; "" writes nothing
	from    string // file of results; "" measures
}

const usageText = `compare measures golaunch, Open MPI and MPICH side by side, and writes
performance.md's measured part, performance.svg (and .png where rsvg-convert is
installed) and performance.json.

Usage:
  go run ./apps/peers/compare [flags]

Examples:
  go run ./apps/peers/compare                              measure and write docs/
  go run ./apps/peers/compare --quick                      try everything once; figures mean nothing
  go run ./apps/peers/compare --only coll-small --rounds 3 look at some cases; write nothing
  go run ./apps/peers/compare --from docs/performance.json write docs/ again without measuring

Flags:
`

const (
	maxRounds  = 1000
	maxTries   = 100
	maxBatches = 1001
	nobody     = "none"
)

func parseOptions(args []string, help io.Writer) (options, error) {
	var o options
	flags := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringSliceVar(&o.peers, "peers", []string{report.OpenMPI, report.MPICH}, "whom to compare with: openmpi, mpich, or none")
	flags.IntVar(&o.rounds, "rounds", 7, "rounds, whose median is the figure")
	flags.IntVar(&o.batches, "batches", 11, "batches of a run, whose median is the run's figure")
	flags.IntVar(&o.tries, "tries", 3, "how often a run is tried when other programs disturb it")
	flags.IntVar(&o.turns, "turns", 6, "how often all run a case of a round when the distance between the cores changes meanwhile")
	quick := flags.Bool("quick", false, "one round of one short batch, and nothing written unless --docs is given")
	flags.StringSliceVar(&o.only, "only", nil, "measure only these cases and write nothing: "+strings.Join(caseNames(), ", "))
	flags.StringVar(&o.docs, "docs", "docs", "directory of performance.md; an empty one writes nothing")
	flags.StringVar(&o.from, "from", "", "use the results in this file instead of measuring")
	flags.Usage = func() { fmt.Fprint(help, usageText, flags.FlagUsages()) }
	if err := flags.Parse(args); err != nil {
		if err == pflag.ErrHelp {
			return o, err
		}
		return o, &usageError{err.Error()}
	}
	if *quick {
		o.rounds, o.batches, o.tries, o.turns, o.divide = 1, 1, 1, 1, 1000
	}
	if (*quick || len(o.only) > 0) && !flags.Changed("docs") {
		o.docs = ""
	}
	return o, o.check(flags.Args())
}

// limit is how long a run may take.
func (o *options) limit() time.Duration {
	if o.divide > 1 {
		return quickLimit
	}
	return runLimit
}

func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return &usageError{fmt.Sprintf("unexpected argument %q", rest[0])}
	}
	if slices.Equal(o.peers, []string{nobody}) {
		o.peers = nil
	}
	for _, peer := range o.peers {
		if peer != report.OpenMPI && peer != report.MPICH {
			return &usageError{fmt.Sprintf("--peers %q: want openmpi, mpich, both, or none", peer)}
		}
	}
	for _, name := range o.only {
		if !slices.Contains(caseNames(), name) {
			return &usageError{fmt.Sprintf("--only %q: the cases are %s", name, strings.Join(caseNames(), ", "))}
		}
	}
	if len(o.only) > 0 && o.docs != "" {
		return &usageError{"--only with --docs: some cases alone make no page"}
	}
	for _, count := range []struct {
		flag       string
		value, max int
	}{{"rounds", o.rounds, maxRounds}, {"tries", o.tries, maxTries}, {"turns", o.turns, maxTries}, {"batches", o.batches, maxBatches}} {
		if count.value < 1 || count.value > count.max {
			return &usageError{fmt.Sprintf("--%s %d: must lie between 1 and %d", count.flag, count.value, count.max)}
		}
	}
	return nil
}
