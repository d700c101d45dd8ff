package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/golaunch/golaunch/apps/internal/program"
)

// Options say what a benchmark measures.
type Options struct {
	Ops     []string
	Sizes   []int // bytes, increasing or not
	Buffers []string
	Batches int
	Divide  int // iteration counts are divided by this; 0 means as the cores require
	JSON    bool
}

// A Spec is a benchmark's own part of its command line.
type Spec struct {
	Name    string
	Help    string // what --help says before the flags
	Ops     []string
	More    []string // further ones, measured only when asked for
	Sizes   []int
	Buffers []string // measured unless --buffers says otherwise
	Unit    int      // every size is a multiple of this

	Flags func(*pflag.FlagSet) // adds the benchmark's own flags, or nil
}

// Oversubscribed is what iteration counts are divided by when ranks outnumber
// cores, as the peers' programs do: an operation then takes context switches.
const Oversubscribed = 500

const (
	maxBatches = 1001
	maxDivide  = 1_000_000
	maxSize    = 1 << 40
)

// Parse reads the command line. pflag.ErrHelp means that help was asked for and
// has been written to help.
func (s Spec) Parse(args []string, help io.Writer) (Options, error) {
	var o Options
	var sizes []string
	flags := program.Flags(s.Name, s.Help, help)
	flags.StringSliceVar(&o.Ops, "ops", s.Ops, "operations to measure")
	flags.StringSliceVar(&sizes, "sizes", sizeNames(s.Sizes), "sizes in bytes; K and M stand for KiB and MiB")
	flags.StringSliceVar(&o.Buffers, "buffers", s.Buffers, "where the buffers lie: arena, heap")
	flags.IntVar(&o.Batches, "batches", 11, "batches, whose median is the result")
	flags.IntVar(&o.Divide, "divide", 0, fmt.Sprintf("divide iteration counts by this (default 1, %d when ranks outnumber cores)", Oversubscribed))
	flags.BoolVar(&o.JSON, "json", false, "print one JSON object a line")
	if s.Flags != nil {
		s.Flags(flags)
	}
	if err := program.ParseOnly(flags, args); err != nil {
		return o, err
	}
	for _, text := range sizes {
		size, err := parseSize(text)
		if err != nil {
			return o, err
		}
		o.Sizes = append(o.Sizes, size)
	}
	return o, o.check(s)
}

func (o Options) check(s Spec) error {
	for _, op := range o.Ops {
		if all := slices.Concat(s.Ops, s.More); !slices.Contains(all, op) {
			return fmt.Errorf("--ops %q: it measures %s", op, strings.Join(all, ", "))
		}
	}
	for _, b := range o.Buffers {
		if b != Arena && b != Heap {
			return fmt.Errorf("--buffers %q: want arena, heap or both", b)
		}
	}
	for _, size := range o.Sizes {
		if size%s.Unit != 0 {
			return fmt.Errorf("--sizes %d: must be a multiple of %d bytes", size, s.Unit)
		}
	}
	if o.Batches < 1 || o.Batches > maxBatches {
		return fmt.Errorf("--batches %d: must lie between 1 and %d", o.Batches, maxBatches)
	}
	if o.Divide < 0 || o.Divide > maxDivide {
		return fmt.Errorf("--divide %d: must lie between 0 and %d", o.Divide, maxDivide)
	}
	if len(o.Ops) == 0 || len(o.Sizes) == 0 || len(o.Buffers) == 0 {
		return fmt.Errorf("nothing to measure: --ops, --sizes and --buffers must each name something")
	}
	return nil
}

// Iterations is how many operations a batch has, given how many it has on an
// idle machine.
func (o Options) Iterations(n, ranks, cores int) int {
	divide := o.Divide
	if divide == 0 {
		divide = 1
		if ranks > cores {
			divide = Oversubscribed
		}
	}
	return max(n/divide, 1)
}

// Wants tells whether op is to be measured.
func (o Options) Wants(op string) bool { return slices.Contains(o.Ops, op) }

// Largest is the largest size, in bytes.
func (o Options) Largest() int { return slices.Max(o.Sizes) }

// parseSize reads a positive number of bytes, as in 8, 64K, 16M.
func parseSize(text string) (int, error) {
	digits, unit := text, 1
	switch {
	case strings.HasSuffix(text, "K"):
		digits, unit = strings.TrimSuffix(text, "K"), 1<<10
	case strings.HasSuffix(text, "M"):
		digits, unit = strings.TrimSuffix(text, "M"), 1<<20
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > maxSize/unit {
		return 0, fmt.Errorf("--sizes %q: want bytes between 1 and %d, as in 8,64K,16M", text, maxSize)
	}
	return n * unit, nil
}

func sizeNames(sizes []int) []string {
	names := make([]string, len(sizes))
	for i, size := range sizes {
		names[i] = strconv.Itoa(size)
	}
	return names
}
