package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// The contenders. Golaunch is this project.
const (
	Golaunch = "golaunch"
	OpenMPI  = "openmpi"
	MPICH    = "mpich"
)

// Operations that the comparison adds to those of the benchmarks.
const (
	Launch        = "launch"         // wall time of the whole command
	PrivateMemory = "private_memory" // Bytes is the figure, US is 0
	// BarePingpong is a ping-pong of system calls without anything around them, which
	// p2pbench times in the same run.
	BarePingpong = "pingpong_bare"
)

// A Record is one figure of one contender in one round.
type Record struct {
	Peer      string  `json:"peer"`
	Round     int     `json:"round"`
	Op        string  `json:"op"`
	Bytes     int64   `json:"bytes"`
	US        float64 `json:"us"` // microseconds of one operation
	Ranks     int     `json:"ranks"`
	Transport string  `json:"transport,omitempty"` // "shm" or "tcp"
	Buffers   string  `json:"buffers,omitempty"`   // "arena" or "heap"

	// What the comparison adds to what a benchmark printed. Older files have neither.

	Case     string   `json:"case,omitempty"`       // with Round, the turn it belongs to
	Distance Distance `json:"distance_ns,omitzero"` // between the cores, in that turn
}

// Parse finds the records in what a benchmark printed. The other lines, such as a
// launcher's warnings, are returned as they are.
func Parse(output []byte) (records []Record, others []string) {
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var r Record
		if json.Unmarshal(line, &r) != nil || r.check() != nil {
			others = append(others, string(line))
			continue
		}
		records = append(records, r)
	}
	return records, others
}

// check refuses what no benchmark measures.
func (r Record) check() error {
	switch {
	case r.Op == "":
		return fmt.Errorf("no operation")
	case r.Ranks < 1:
		return fmt.Errorf("%s: %d ranks", r.Op, r.Ranks)
	case r.Bytes < 0:
		return fmt.Errorf("%s: %d bytes", r.Op, r.Bytes)
	case r.Distance.check() != nil:
		return fmt.Errorf("%s: %w", r.Op, r.Distance.check())
	case r.Op == PrivateMemory:
		return nil
	case !(r.US > 0) || math.IsInf(r.US, 0):
		return fmt.Errorf("%s: %v microseconds", r.Op, r.US)
	}
	return nil
}

// A Setup says where and how a comparison was measured.
type Setup struct {
	CPU      string            `json:"cpu"`
	Cores    int               `json:"cores"`
	Kernel   string            `json:"kernel"`
	Go       string            `json:"go"`
	Versions map[string]string `json:"versions"` // by contender
	Rounds   int               `json:"rounds"`
	Batches  int               `json:"batches"`
	Others   float64           `json:"others"`           // share of the cores that other programs took meanwhile
	Divide   int               `json:"divide,omitempty"` // of iteration counts, in a trial
}

// A Run is one comparison: its setup and all its records.
type Run struct {
	Setup   Setup
	Records []Record
}

// first is the first line of a file of results.
type first struct {
	Setup *Setup `json:"setup"`
}

// Write writes the run as JSON lines: its setup, then a record a line.
func (r Run) Write(out io.Writer) error {
	enc := json.NewEncoder(out)
	if err := enc.Encode(first{&r.Setup}); err != nil {
		return err
	}
	for _, record := range r.Records {
		if err := enc.Encode(record); err != nil {
			return err
		}
	}
	return nil
}

// Read reads what Write wrote.
func Read(in io.Reader) (Run, error) {
	lines := bufio.NewScanner(in)
	if !lines.Scan() {
		return Run{}, fmt.Errorf("results: no setup in the first line: %w", noEOF(lines.Err()))
	}
	var f first
	if err := json.Unmarshal(lines.Bytes(), &f); err != nil || f.Setup == nil {
		return Run{}, fmt.Errorf("results: no setup in the first line %.80q", lines.Text())
	}
	run := Run{Setup: *f.Setup}
	for number := 2; lines.Scan(); number++ {
		var r Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return Run{}, fmt.Errorf("results: line %d: %w", number, err)
		}
		if err := r.check(); err != nil {
			return Run{}, fmt.Errorf("results: line %d: %w", number, err)
		}
		run.Records = append(run.Records, r)
	}
	if err := lines.Err(); err != nil {
		return Run{}, fmt.Errorf("results: %w", err)
	}
	return run, nil
}

// noEOF names an end that Scanner reports as no error.
func noEOF(err error) error {
	if err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}
