package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/golaunch/golaunch/apps/internal/program"
	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func TestRowsCoverThePlate(t *testing.T) {
	for n := minN; n <= 40; n++ {
		for ranks := 1; ranks <= n; ranks++ {
			at := 0
			for rank := range ranks {
				first, end := rows(n, rank, ranks)
				if first != at || end-first < n/ranks || end-first > n/ranks+1 {
					t.Fatalf("%d rows on %d ranks: rank %d has %d to %d", n, ranks, rank, first, end)
				}
				if first != end-1 && rankOf(n, first, ranks) != rank || rankOf(n, end-1, ranks) != rank {
					t.Fatalf("%d rows on %d ranks: rank %d is not found by its rows", n, ranks, rank)
				}
				at = end
			}
			if at != n {
				t.Fatalf("%d rows on %d ranks: %d are covered", n, ranks, at)
			}
		}
	}
}

// runRanks runs the program on some ranks and returns what rank 0 wrote and the
// error of each.
func runRanks(t *testing.T, ranks int, opt options) (string, []error) {
	t.Helper()
	var mu sync.Mutex
	var out strings.Builder
	errs := make([]error, ranks)
	worldtest.Run(t, ranks, func(ctx context.Context, comm *world.Comm) {
		var mine strings.Builder
		errs[comm.Rank()] = run(ctx, comm, opt, &mine)
		mu.Lock()
		defer mu.Unlock()
		out.WriteString(mine.String())
	})
	return out.String(), errs
}

// TestEqualsSerial: for any number of ranks, also where each has one row only,
// and in each of the two states of the plate.
func TestEqualsSerial(t *testing.T) {
	for _, n := range []int{3, 4, 5, 7, 33, 64} {
		for ranks := 1; ranks <= min(n, 5); ranks++ {
			for _, steps := range []int{0, 1, 2, 35} {
				opt := options{n: n, steps: steps, every: 10, verify: true}
				out, errs := runRanks(t, ranks, opt)
				if err := errors.Join(errs...); err != nil {
					t.Fatalf("n %d, %d ranks, %d steps: %v", n, ranks, steps, err)
				}
				if !strings.Contains(out, "verified: equal to the serial result, bit for bit") {
					t.Fatalf("n %d, %d ranks, %d steps: %s", n, ranks, steps, out)
				}
			}
		}
	}
}

// TestResidualsDoNotDependOnTheRanks: nor does anything else in the table.
func TestResidualsDoNotDependOnTheRanks(t *testing.T) {
	table := func(ranks int) string {
		out, errs := runRanks(t, ranks, options{n: 31, steps: 25, every: 10})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(out, "\n\n")
		lines, _, _ := strings.Cut(rest, "\n\n")
		return lines
	}
	want := table(1)
	if strings.Count(want, "°C/step") != 3 {
		t.Errorf("residuals after 10, 20 and 25 steps:\n%s", want)
	}
	for ranks := 2; ranks <= 4; ranks++ {
		if got := table(ranks); got != want {
			t.Errorf("%d ranks:\n%s\nwant\n%s", ranks, got, want)
		}
	}
}

func TestMoreRanksThanRows(t *testing.T) {
	_, errs := runRanks(t, 4, options{n: 3, steps: 1, every: 1})
	for rank, err := range errs {
		want := fmt.Sprintf("rank %d: 4 ranks cannot share a plate of 3 rows", rank)
		var usage *program.UsageError
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &usage) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

func TestCompareTellsWhere(t *testing.T) {
	p := plate{5}
	want := serial(p, 3)
	got := append([]float64(nil), want...)
	if err := compare(p, got, want, 2); err != nil {
		t.Error(err)
	}
	got[3*5+1] += 1e-9
	got[4*5+4]++
	err := compare(p, got, want, 2)
	if err == nil || !strings.Contains(err.Error(), "2 of 25 cells differ") || !strings.Contains(err.Error(), "row 3, column 1, computed by rank 1") {
		t.Errorf("%v", err)
	}
}
