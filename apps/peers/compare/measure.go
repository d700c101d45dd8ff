package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// disturbed is the share of the cores that others may take from a run.
const disturbed = 0.1

// hangs is how often in a row a peer may hang.
const hangs = 3

// measure builds everything in a temporary directory and runs all rounds. A run
// that fails is reported at the end; its figures would be missed silently in a
// median, so that nothing is returned then.
func measure(ctx context.Context, o options, progress io.Writer) (report.Run, error) {
	if err := missing(o.peers); err != nil {
		return report.Run{}, err
	}
	dir, err := os.MkdirTemp("", "golaunch-compare-")
	if err != nil {
		return report.Run{}, err
	}
	run, err := measureIn(ctx, dir, o, progress)
	return run, errors.Join(err, os.RemoveAll(dir))
}

func measureIn(ctx context.Context, dir string, o options, progress io.Writer) (report.Run, error) {
	if err := build(ctx, dir, o.peers, progress); err != nil {
		return report.Run{}, err
	}
	m := &measuring{o: o, cores: machine.Cores(), all: contenders(dir, o.peers), progress: progress}
	setup, err := describe(ctx, m, dir)
	if err != nil {
		return report.Run{}, err
	}
	if err := m.findPair(); err != nil {
		return report.Run{}, err
	}
	for round := 1; round <= o.rounds; round++ {
		m.round(ctx, round)
		if ctx.Err() != nil {
			return report.Run{}, context.Cause(ctx)
		}
	}
	setup.Others = m.total.others(m.cores)
	return report.Run{Setup: setup, Records: m.records}, errors.Join(m.failures...)
}

// findPair finds the cores whose distance is measured.
func (m *measuring) findPair() error {
	p, ok, err := firstPair()
	switch {
	case err != nil:
		return err
	case !ok:
		fmt.Fprintln(m.progress, "there is one core to use: it has no distance to another")
		return nil
	}
	m.distance = p.distance
	return nil
}

// measuring is a measurement under way.
type measuring struct {
	o        options
	cores    int
	all      []contender
	progress io.Writer
	records  []report.Record
	total    usage // of the runs whose results were kept
	failures []error
	distance func() (float64, error) // between the cores; nil where there is only one
}

// round runs every case once with every contender.
func (m *measuring) round(ctx context.Context, round int) {
	for _, bc := range m.o.chosen() {
		if bc.memory && round > 1 {
			continue
		}
		fmt.Fprintf(m.progress, "round %d of %d, %s:", round, m.o.rounds, bc.name)
		m.take(ctx, bc, round)
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintln(m.progress)
	}
}

// run runs one case of one contender. What others disturbed is run again, and the
// least disturbed run counts: which one that is does not depend on its figures.
func (m *measuring) run(ctx context.Context, c contender, bc benchCase) ([]report.Record, usage, error) {
	var records []report.Record
	var kept usage
	for try := range m.o.tries {
		again, used, err := m.patiently(ctx, c, bc)
		if err != nil {
			return nil, used, err
		}
		if try == 0 || used.others(m.cores) < kept.others(m.cores) {
			records, kept = again, used
		}
		if kept.others(m.cores) <= disturbed {
			break
		}
		fmt.Fprint(m.progress, "*")
	}
	return records, kept, nil
}

// patiently runs one case of one contender. A peer that hangs, as MPICH over TCP does
// now and then, is started again. That this project does
// is for nobody to overlook.
func (m *measuring) patiently(ctx context.Context, c contender, bc benchCase) (records []report.Record, used usage, err error) {
	for range hangs {
		records, used, err = m.once(ctx, c, bc)
		var hung *hungError
		if c.name == report.Golaunch || !errors.As(err, &hung) {
			break
		}
		fmt.Fprint(m.progress, " (hung)")
	}
	return records, used, err
}

// once runs one case of one contender once.
func (m *measuring) once(ctx context.Context, c contender, bc benchCase) ([]report.Record, usage, error) {
	argv := c.command(bc, m.o, m.cores)
	output, used, err := execute(ctx, m.o.limit(), argv)
	if err != nil {
		return nil, used, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	records, rest := report.Parse(output)
	want := bc.results(c.kinds(bc))
	if c.json && bc.bare {
		want += len(bc.sizes)
	}
	if len(records) != want {
		return nil, used, fmt.Errorf("%s: printed %d results, want %d; besides them %q", strings.Join(argv, " "), len(records), want, rest)
	}
	if bc.program == idle && !bc.memory {
		records = append(records, report.Record{Op: report.Launch, US: float64(used.wall.Nanoseconds()) / 1e3, Ranks: bc.ranks})
	}
	return records, used, nil
}
