package main

import (
	"fmt"
	"io"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A table has a row for each operation and a column for each size, as one compares
// them. A row is begun with its first result and shown as it grows.
type table struct {
	out     io.Writer
	heading string
	sizes   []int
	op      string // of the row that was begun
	err     error
}

func (t *table) Print(r bench.Result) error {
	if t.op == "" {
		t.printf("%s\n\n%-19s%-7s", t.heading, "operation", "buffers")
		for _, size := range t.sizes {
			t.printf("%11s", figures.Size(size))
		}
	}
	if t.op != r.Op {
		t.op = r.Op
		t.printf("\n%-19s%-7s", r.Op, r.Buffers)
	}
	t.printf("%11s", figures.Time(r.US))
	return t.err
}

// close ends the last row.
func (t *table) close() error {
	if t.op != "" {
		t.printf("\n")
	}
	return t.err
}

func (t *table) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format, args...)
	}
}
