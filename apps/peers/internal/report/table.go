package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

const tableHead = `| operation | golaunch | Open MPI | MPICH | of the best | at most | |
|---|--:|--:|--:|--:|--:|---|
`

// Table writes the comparison in Markdown, with the sum of it below.
func Table(rows []Comparison) string {
	var b strings.Builder
	b.WriteString(tableHead)
	group := ""
	for _, row := range rows {
		if row.Group != group {
			group = row.Group
			fmt.Fprintf(&b, "| **%s** | | | | | | |\n", group)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", row.Label,
			row.figure(row.Ours), row.figure(row.OpenMPI), row.figure(row.MPICH),
			RatioText(row.Ratio()), row.required(), row.Verdict().word())
	}
	fmt.Fprintf(&b, "\n%s\n", Sum(rows))
	return b.String()
}

// Sum says in a sentence how many rows reach what they must, and which do not.
func Sum(rows []Comparison) string {
	reached, required := 0, 0
	var missed []string
	for _, row := range rows {
		switch row.Verdict() {
		case Reached:
			reached++
			required++
		case Missed:
			required++
			missed = append(missed, row.Label)
		}
	}
	text := fmt.Sprintf("%d of %d rows with a requirement reach it.", reached, required)
	if len(missed) > 0 {
		text += " Not reached: " + strings.Join(missed, "; ") + "."
	}
	return text
}

func (c Comparison) figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case c.Op == PrivateMemory:
		return fmt.Sprintf("%.1f MB", v/1e6)
	}
	return figures.Time(v)
}

func (c Comparison) required() string {
	switch {
	case c.Limit > 0:
		return fmt.Sprintf("%d MB", c.Limit/1e6)
	case c.AtMost == 0:
		return ""
	}
	return fmt.Sprintf("%.2f", c.AtMost)
}

// RatioText writes a ratio with as many digits as it is worth.
func RatioText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 0.9995:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (v Verdict) word() string {
	switch v {
	case Reached:
		return "reached"
	case Missed:
		return "**missed**"
	case Unknown:
		return "no peer"
	}
	return ""
}
