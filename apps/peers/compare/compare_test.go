package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

var update = flag.Bool("update", false, "write the golden files")

// TestCommands pins the whole command line of every case of every contender.
func TestCommands(t *testing.T) {
	const golden = "testdata/commands.txt"
	var b strings.Builder
	for _, o := range []options{{batches: 11}, {batches: 1, divide: 1000}} {
		for _, bc := range cases() {
			for _, c := range contenders("DIR", []string{report.OpenMPI, report.MPICH}) {
				fmt.Fprintf(&b, "%s\n    gives %d results\n", strings.Join(c.command(bc, o, 2), " "), bc.results(c.kinds(bc)))
			}
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (write it anew with -update):\n%s", golden, diff)
	}
}

// TestCasesMeasureEveryRow keeps the cases and the rows of the page together.
func TestCasesMeasureEveryRow(t *testing.T) {
	for _, row := range report.Rows() {
		if !measured(row) {
			t.Errorf("no case measures %s", row.Label)
		}
	}
}

func measured(row report.Row) bool {
	for _, bc := range cases() {
		if bc.ranks != row.Ranks || bc.network != row.Network || row.Bare && !bc.bare {
			continue
		}
		switch {
		case row.Op == report.Launch && bc.program == idle && !bc.memory,
			row.Op == report.PrivateMemory && bc.memory:
			return true
		case contains(bc.ops, row.Op) && (row.Buffers == report.Arena && row.Bytes <= 8 || contains(bc.buffers, row.Buffers)) &&
			(row.Bytes == 0 || contains(bc.sizes, int(row.Bytes))):
			return true
		}
	}
	return false
}

func contains[T comparable](all []T, one T) bool {
	for _, v := range all {
		if v == one {
			return true
		}
	}
	return false
}

func TestParseOptions(t *testing.T) {
	both := []string{report.OpenMPI, report.MPICH}
	for _, c := range []struct {
		args string
		want options
	}{
		{"", options{peers: both, rounds: 7, batches: 11, tries: 3, turns: 6, docs: "docs"}},
		{"--quick", options{peers: both, rounds: 1, batches: 1, tries: 1, turns: 1, divide: 1000}},
		{"--quick --docs x --peers none", options{rounds: 1, batches: 1, tries: 1, turns: 1, divide: 1000, docs: "x"}},
		{"--only launch,memory --peers mpich", options{peers: []string{report.MPICH}, rounds: 7, batches: 11, tries: 3, turns: 6, only: []string{"launch", "memory"}}},
		{"--from f --rounds 3", options{peers: both, rounds: 3, batches: 11, tries: 3, turns: 6, docs: "docs", from: "f"}},
	} {
		got, err := parseOptions(strings.Fields(c.args), io.Discard)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", c.want), fmt.Sprintf("%+v", got)); diff != "" {
			t.Errorf("%s:\n%s", c.args, diff)
		}
	}
}

func TestParseOptionsRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--peers lam":             `--peers "lam"`,
		"--peers none,mpich":      `--peers "none"`,
		"--only nothing":          `--only "nothing"`,
		"--only launch --docs d":  "--only with --docs",
		"--rounds 0":              "--rounds 0",
		"--tries 0":               "--tries 0",
		"--turns 0":               "--turns 0",
		"--batches 2000":          "--batches 2000",
		"stray":                   `unexpected argument "stray"`,
		"--unknown":               "unknown flag",
		"--docs /nonexistent/dir": "/nonexistent/dir",
	} {
		var progress strings.Builder
		code := realMain(context.Background(), strings.Fields(args), io.Discard, &progress)
		if code != 2 || !strings.Contains(progress.String(), want) {
			t.Errorf("%s: code %d, %q, want 2 and %q", args, code, progress.String(), want)
		}
	}
}

func TestMissingPeersSayWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for peers, want := range map[string]string{
		"openmpi,mpich": "apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev\n",
		"mpich":         "apt-get install mpich libmpich-dev\n",
	} {
		var progress strings.Builder
		code := realMain(context.Background(), []string{"--quick", "--peers", peers}, io.Discard, &progress)
		if code != 2 || !strings.Contains(progress.String(), want) {
			t.Errorf("%s: code %d, %q", peers, code, progress.String())
		}
	}
	if err := missing(nil); err != nil {
		t.Errorf("without peers: %v", err)
	}
}

func TestVersionName(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4":                  "Open MPI 4.1.4",
		"MPICH Version:\t4.0.2\nMPICH ABI:\t14:2:2\nMPICH Device:\tch4:ucx\nmore": "MPICH 4.0.2 (ch4:ucx)",
		"MPICH Version: 4.0.2":                 "MPICH 4.0.2",
		"golaunch 1.0 (rank protocol 1)\nmore": "golaunch 1.0",
	} {
		if got := versionName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestExecute(t *testing.T) {
	output, used, err := execute(t.Context(), time.Minute, []string{"sh", "-c", "echo out; echo complaint >&2"})
	if err != nil || string(output) != "out\n" || used.wall <= 0 {
		t.Errorf("%q, %v, %v", output, used, err)
	}
	_, _, err = execute(t.Context(), time.Minute, []string{"sh", "-c", "echo complaint >&2; exit 3"})
	if err == nil || !strings.Contains(err.Error(), "exit status 3\ncomplaint") {
		t.Errorf("a failing command: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, _, err = execute(ctx, time.Minute, []string{"sleep", "60"}); err == nil || err.Error() != "enough" {
		t.Errorf("a cancelled command: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		used usage
		want float64
	}{
		{usage{}, 0},
		{usage{wall: time.Second, foreign: time.Second}, 0.5},
		{usage{wall: time.Second, foreign: -10 * time.Millisecond}, 0}, // a tick too few
	} {
		if got := c.used.others(2); got != c.want {
			t.Errorf("%+v: %v, want %v", c.used, got, c.want)
		}
	}
	sum := usage{wall: time.Second, foreign: time.Second}
	sum.add(usage{wall: 3 * time.Second})
	if got := sum.others(1); got != 0.25 {
		t.Errorf("the sum's share is %v, want 0.25", got)
	}
}

// TestAPeerThatHangsIsStartedAgain has launchers that do not end.
func TestAPeerThatHangsIsStartedAgain(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, &hungError{time.Millisecond})
	defer cancel()
	for name, want := range map[string]int{report.MPICH: hangs, report.Golaunch: 0} {
		var progress strings.Builder
		m := &measuring{o: options{batches: 1, tries: 1}, cores: 2, progress: &progress}
		_, _, err := m.run(ctx, contender{name: name, launcher: "yes"}, cases()[0])
		if got := strings.Count(progress.String(), "hung"); err == nil || got != want {
			t.Errorf("%s: started again %d times, want %d; %v", name, got, want, err)
		}
	}
}

// TestTooFewResultsAreAFailure has a launcher that succeeds without printing.
func TestTooFewResultsAreAFailure(t *testing.T) {
	m := &measuring{o: options{batches: 1, tries: 1}, cores: 2, progress: io.Discard}
	c := contender{name: "silent", launcher: "true"}
	for _, bc := range cases() {
		_, _, err := m.run(t.Context(), c, bc)
		if wants := bc.results(1) > 0; (err != nil) != wants {
			t.Errorf("%s: error %v", bc.name, err)
		}
	}
}

func TestFromWritesThePageAgain(t *testing.T) {
	docs := newDocs(t)
	from := filepath.Join("..", "internal", "report", "testdata", "run.json")
	var out, progress strings.Builder
	if code := realMain(t.Context(), []string{"--from", from, "--docs", docs}, &out, &progress); code != 0 {
		t.Fatalf("code %d: %s", code, progress.String())
	}
	checkDocs(t, docs, "| put 8 B | 5.00 ns | 49.0 ns | 1.24 µs | 0.102 | 0.25 | reached |")
	raw, err := os.ReadFile(filepath.Join(docs, rawName))
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(original), "\n"); strings.Count(string(raw), "\n") != lines {
		t.Errorf("%s has not the %d lines it was made from", rawName, lines)
	}
}

// newDocs returns a directory with an empty page.
func newDocs(t *testing.T) string {
	t.Helper()
	docs := t.TempDir()
	page := "# Performance\n\n<!-- measured: written by make bench-peers -->\n<!-- end of measured -->\n\nProse.\n"
	if err := os.WriteFile(filepath.Join(docs, pageName), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return docs
}

func checkDocs(t *testing.T, docs string, wants ...string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(docs, pageName))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(wants, "# Performance", "Prose.") {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	chart, err := os.ReadFile(filepath.Join(docs, chartName))
	if err != nil || !strings.HasPrefix(string(chart), "<svg") {
		t.Errorf("chart: %.40q, %v", chart, err)
	}
}
