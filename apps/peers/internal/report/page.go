package report

import (
	"fmt"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// What stands between these two lines of the page is written by the comparison;
// the rest is prose.
const (
	pageBegin = "<!-- measured: written by make bench-peers -->"
	pageEnd   = "<!-- end of measured -->"
)

// Page returns the page with its measured part replaced.
func Page(page, measured string) (string, error) {
	before, rest, ok := strings.Cut(page, pageBegin)
	if !ok {
		return "", fmt.Errorf("the page has no line %q", pageBegin)
	}
	_, after, ok := strings.Cut(rest, pageEnd)
	if !ok {
		return "", fmt.Errorf("the page has no line %q", pageEnd)
	}
	return before + pageBegin + "\n\n" + strings.TrimSpace(measured) + "\n\n" + pageEnd + after, nil
}

// Measured is the part of the page that a run writes.
func Measured(run Run) string {
	return run.Setup.text() + distances(run.Records) + "\n" + Table(Compare(Rows(), run.Records))
}

// text says where and how it was measured.
func (s Setup) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with %s, %s, %s: %s.\n",
		s.CPU, figures.Plural(s.Cores, "core"), s.Kernel, s.Go, s.contenders())
	fmt.Fprintf(&b, "Each figure is the median over %s of the median of %s.\n",
		figures.Plural(s.Rounds, "interleaved round"), figures.Plural(s.Batches, "batch"))
	fmt.Fprintf(&b, "Other programs took %.0f %% of the cores meanwhile%s.\n", 100*s.Others, s.warning())
	if s.Divide > 1 {
		fmt.Fprintf(&b, "**A trial of the programs, with 1/%d of the operations: the figures mean nothing.**\n", s.Divide)
	}
	return b.String()
}

// warning tells what a disturbed measurement is worth.
func (s Setup) warning() string {
	if s.Others <= 0.1 {
		return ""
	}
	return ": **more than 10 %, measure again on a quiet machine**. Peers that spin suffer more from it than ranks that sleep"
}

func (s Setup) contenders() string {
	var names []string
	for _, peer := range []string{Golaunch, OpenMPI, MPICH} {
		if v := s.Versions[peer]; v != "" {
			names = append(names, v)
		}
	}
	return strings.Join(names, ", ")
}
