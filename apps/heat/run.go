package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/world"
)

// run is the program of one rank. Rank 0 writes the report to out.
func run(ctx context.Context, comm *world.Comm, opt options, out io.Writer) error {
	if comm.Size() > opt.n {
		return program.Usagef("rank %d: %d ranks cannot share a plate of %d rows: use at most %d ranks, or a greater --n",
			comm.Rank(), comm.Size(), opt.n, opt.n)
	}
	if comm.Rank() != 0 {
		out = io.Discard
	}
	s, err := newSolver(ctx, comm, plate{opt.n})
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := steps(ctx, s, opt, out); err != nil {
		return err
	}
	took := time.Since(begin)
	whole, err := s.collect(ctx)
	if err != nil {
		return err
	}
	if err := s.free(ctx); err != nil {
		return err
	}
	if comm.Rank() != 0 {
		return nil
	}
	speed(out, opt, comm.Size(), took)
	if err := finish(s.plate, whole, comm.Size(), opt, out); err != nil {
		return err
	}
	return arena.Free(comm.Arena(), whole)
}

// steps computes all steps and reports the residual now and then.
func steps(ctx context.Context, s *solver, opt options, out io.Writer) error {
	fmt.Fprintf(out, "%d x %d cells, %g cm of copper, on %s\n\n%8s %10s %22s\n",
		s.n, s.n, 100*plateWidth, onRanks(s.comm.Size()), "step", "time", "greatest change")
	for s.step < opt.steps {
		if err := s.advance(ctx); err != nil {
			return err
		}
		if s.step%opt.every != 0 && s.step != opt.steps {
			continue
		}
		most, err := s.residual(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%8d %8.3f s %12.6f °C/step\n", s.step, s.seconds(s.step), most)
	}
	return nil
}

func speed(out io.Writer, opt options, ranks int, took time.Duration) {
	each := math.Max(took.Seconds(), 1e-9)
	fmt.Fprintf(out, "\n%.2f s on %s: %.0f steps/s, %.0f million cells/s\n",
		took.Seconds(), onRanks(ranks), float64(opt.steps)/each, opt.updates()/each/1e6)
}

func onRanks(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return fmt.Sprintf("%d ranks", n)
}

// finish is rank 0's: it verifies the result and writes the picture.
func finish(p plate, whole []float64, ranks int, opt options, out io.Writer) error {
	if opt.verify {
		begin := time.Now()
		if err := compare(p, whole, serial(p, opt.steps), ranks); err != nil {
			return err
		}
		fmt.Fprintf(out, "verified: equal to the serial result, bit for bit (%.2f s)\n", time.Since(begin).Seconds())
	}
	if opt.out == "" {
		return nil
	}
	if err := writePNG(opt.out, picture(p, whole)); err != nil {
		return fmt.Errorf("rank 0: %w", err)
	}
	fmt.Fprintf(out, "wrote %s\n", opt.out)
	return nil
}

// compare reports the first cell in which got differs from the serial result,
// and the rank that computed it.
func compare(p plate, got, want []float64, ranks int) error {
	differ, at := 0, 0
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			if differ == 0 {
				at = i
			}
			differ++
		}
	}
	if differ == 0 {
		return nil
	}
	row, col := at/p.n, at%p.n
	return fmt.Errorf("rank 0: verify: %d of %d cells differ from the serial result, the first at row %d, column %d, computed by rank %d: %v instead of %v",
		differ, len(want), row, col, rankOf(p.n, row, ranks), got[at], want[at])
}

// rankOf is the rank that computes a row.
func rankOf(n, row, ranks int) int {
	for rank := range ranks {
		if _, end := rows(n, rank, ranks); row < end {
			return rank
		}
	}
	return ranks - 1
}
