package report

import (
	"fmt"
	"math"

	"github.com/golaunch/golaunch/apps/peers/internal/chart"
)

// Chart draws the comparison.
func Chart(run Run) string {
	return chart.Draw(chart.Chart{
		Title:    "golaunch, Open MPI and MPICH side by side",
		Subtitle: "Time of one operation, logarithmic: further left is faster. A bar joins golaunch with the better peer, a ratio divides their times.",
		NoteHead: "ratio", AsideHead: "must be",
		Series: []chart.Series{
			{Name: "golaunch", Color: "#0b7285", Shape: chart.Circle},
			{Name: "Open MPI", Color: "#e8890c", Shape: chart.Diamond},
			{Name: "MPICH", Color: "#7b4fa3", Shape: chart.Square},
		},
		Rows: chartRows(Compare(Rows(), run.Records)),
	})
}

// chartRows leaves out what is not a time.
func chartRows(rows []Comparison) []chart.Row {
	var out []chart.Row
	for _, c := range rows {
		if c.Op == PrivateMemory {
			continue
		}
		out = append(out, chart.Row{
			Group: c.Group, Label: c.Label,
			Values: []float64{mark(c.Ours), mark(c.OpenMPI), mark(c.MPICH)},
			Note:   RatioText(c.Ratio()), Aside: c.aside(), Bad: c.Verdict() == Missed,
		})
	}
	return out
}

// mark is a figure the chart draws, 0 where there is none.
func mark(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func (c Comparison) aside() string {
	if c.AtMost == 0 {
		return ""
	}
	return fmt.Sprintf("≤ %.2f", c.AtMost)
}
