package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// report is what docs/launching.md promises of --json.
type report struct {
	Job      string
	Version  string
	Outcome  string
	ExitCode int `json:"exit_code"`
	Rank     *int
	Reason   string
	Wall     float64 `json:"wall_s"`
	Paths    map[string]path
	Ranks    []struct {
		Paths    map[string]path
		Rank     int
		Host     string
		Program  string
		PID      int
		State    string
		Joined   bool
		Left     bool
		ExitCode *int `json:"exit_code"`
		Signal   string
		Failure  string
		Stderr   []string `json:"last_stderr"`
		Wall     float64  `json:"wall_s"`
		User     float64  `json:"user_s"`
		System   float64  `json:"system_s"`
		MaxRSS   int64    `json:"max_rss_bytes"`
	}
}

type path struct {
	Ops   int64
	Bytes int64
	Wait  int64 `json:"wait_ns"`
}

func parseReport(t *testing.T, text string) (r report) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return r
}

func TestJSONOfASuccess(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report")
	launch(t, append([]string{"--json=" + file, "-n", "2"}, program("member")...)...).expect(t, result{0, "", ""})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := parseReport(t, string(text))
	if r.Outcome != "success" || r.ExitCode != 0 || r.Rank != nil || len(r.Ranks) != 2 || r.Job == "" || r.Wall <= 0 || r.Version == "" {
		t.Errorf("%s", text)
	}
	for i, rank := range r.Ranks {
		if rank.Rank != i || rank.Host != host(t) || rank.Program != self() || rank.PID == 0 || rank.State != "ended" || !rank.Joined || !rank.Left ||
			rank.ExitCode == nil || *rank.ExitCode != 0 || rank.Wall <= 0 || rank.User+rank.System <= 0 || rank.MaxRSS <= 0 {
			t.Errorf("%s", text)
		}
	}
}

func TestJSONOfAFailure(t *testing.T) {
	t.Parallel()
	got := launch(t, with("--json -n 2", sh("[ $GOLAUNCH_RANK = 0 ] && sleep 1000; printf 'no newline'; echo bad >&2; kill -ABRT $$")...)...)
	got.expect(t, result{134, "no newline\n{", "SIGABRT"})
	r := parseReport(t, got.stdout[len("no newline\n"):])
	if r.Outcome != "failed" || r.ExitCode != 134 || r.Rank == nil || *r.Rank != 1 {
		t.Errorf("%+v", r)
	}
	if a, b := r.Ranks[0], r.Ranks[1]; a.State != "stopped" || a.Signal != "SIGTERM" || a.ExitCode != nil ||
		b.State != "failed" || b.Signal != "SIGABRT" || b.Failure == "" || len(b.Stderr) != 1 || b.Stderr[0] != "bad" {
		t.Errorf("%+v", r)
	}
}

func TestJSONWithNowhereToGo(t *testing.T) {
	t.Parallel()
	launch(t, "--json=/not/there", "true").expect(t, result{1, "", "golaunch: --json: open /not/there: no such file or directory"})
}
