package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

const (
	runLimit  = 5 * time.Minute  // one run of one case
	killAfter = 10 * time.Second // a launcher's time to end its ranks after SIGTERM
)

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
	if load, busy := machine.Busy(); busy {
		fmt.Fprintf(progress, "the machine is busy (load %.1f on %d cores): figures will be noisy\n", load, m.cores)
	}
	for round := 1; round <= o.rounds; round++ {
		m.round(ctx, round)
		if ctx.Err() != nil {
			return report.Run{}, context.Cause(ctx)
		}
	}
	return report.Run{Setup: setup, Records: m.records}, errors.Join(m.failures...)
}

// measuring is a measurement under way.
type measuring struct {
	o        options
	cores    int
	all      []contender
	progress io.Writer
	records  []report.Record
	failures []error
}

// round runs every case once with every contender. Who goes first changes from
// round to round.
func (m *measuring) round(ctx context.Context, round int) {
	for _, bc := range m.o.chosen() {
		if bc.memory && round > 1 {
			continue
		}
		fmt.Fprintf(m.progress, "round %d of %d, %s:", round, m.o.rounds, bc.name)
		for i := range m.all {
			c := m.all[(i+round-1)%len(m.all)]
			fmt.Fprintf(m.progress, " %s", c.name)
			records, err := m.run(ctx, c, bc)
			if err != nil {
				fmt.Fprint(m.progress, " (failed)")
				m.failures = append(m.failures, fmt.Errorf("round %d, %s, %s: %w", round, bc.name, c.name, err))
			}
			for _, r := range records {
				r.Peer, r.Round = c.name, round
				m.records = append(m.records, r)
			}
			if ctx.Err() != nil {
				return
			}
		}
		fmt.Fprintln(m.progress)
	}
}

// run runs one case of one contender.
func (m *measuring) run(ctx context.Context, c contender, bc benchCase) ([]report.Record, error) {
	argv := c.command(bc, m.o, m.cores)
	output, wall, err := execute(ctx, argv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	records, others := report.Parse(output)
	if want := bc.results(c.kinds(bc)); len(records) != want {
		return nil, fmt.Errorf("%s: printed %d results, want %d; besides them %q", strings.Join(argv, " "), len(records), want, others)
	}
	if bc.program == idle && !bc.memory {
		records = append(records, report.Record{Op: report.Launch, US: float64(wall.Nanoseconds()) / 1e3, Ranks: bc.ranks})
	}
	return records, nil
}

// execute runs a command to its end and returns its standard output and the time
// it took. Its standard error is part of the error.
func execute(ctx context.Context, argv []string) ([]byte, time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("it ran longer than %v", runLimit))
	defer cancel()
	var output, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), &output, &complaints
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	started := time.Now()
	err := cmd.Run()
	wall := time.Since(started)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("%w\n%s", err, tail(complaints.Bytes(), 2000))
	}
	return output.Bytes(), wall, err
}

// tail is the last n bytes at most.
func tail(text []byte, n int) []byte {
	text = bytes.TrimSpace(text)
	return text[max(0, len(text)-n):]
}
