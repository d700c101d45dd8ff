package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// Where the user's buffers lie.
const (
	Arena = "arena" // memory of arena.Alloc, or the window's own
	Heap  = "heap"  // an ordinary Go slice
)

// A Result is one measured operation, and one line of --json.
type Result struct {
	Op        string  `json:"op"`
	Bytes     int     `json:"bytes"` // of one operation; 0 where it moves none
	US        float64 `json:"us"`    // microseconds of one operation
	Ranks     int     `json:"ranks"`
	Transport string  `json:"transport"`
	Buffers   string  `json:"buffers"`
}

// A Printer shows results as they come.
type Printer interface {
	Print(Result) error
}

// NewPrinter returns the printer for --json, or the one for a person to read,
// who is told heading first.
func NewPrinter(out io.Writer, asJSON bool, heading string) Printer {
	if asJSON {
		return lines{json.NewEncoder(out)}
	}
	return &table{out: out, heading: heading}
}

// Heading is what stands above a table of results over a transport.
func Heading(transport string, ranks, cores, batches int) string {
	return fmt.Sprintf("%s over %s, %s, median of %d batches",
		figures.Plural(ranks, "rank"), transport, figures.Plural(cores, "core"), batches)
}

type lines struct{ enc *json.Encoder }

func (l lines) Print(r Result) error {
	r.US = math.Round(r.US*1e4) / 1e4 // a tenth of a nanosecond
	return l.enc.Encode(r)
}

// table prints a row at a time: the next one may be seconds away.
type table struct {
	out     io.Writer
	heading string
	begun   bool
}

func (t *table) Print(r Result) error {
	if !t.begun {
		t.begun = true
		if _, err := fmt.Fprintf(t.out, "%s\n\n%-16s %10s %12s %12s   %s\n",
			t.heading, "operation", "size", "time", "rate", "buffers"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, "%-16s %10s %12s %12s   %s\n",
		r.Op, figures.Size(r.Bytes), figures.Time(r.US), rate(r), r.Buffers)
	return err
}

// rate is bytes per second, for operations whose time depends on their size.
func rate(r Result) string {
	if r.Bytes < 1024 || r.US <= 0 {
		return ""
	}
	return fmt.Sprintf("%.2f GB/s", float64(r.Bytes)/r.US/1e3)
}
