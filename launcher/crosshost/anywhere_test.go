package crosshost

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

// onOneHost runs golaunch where this test runs; that takes no root.
func onOneHost(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, "golaunch"), args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The tests of a package run as ranks of a job (worldtest.Anywhere).
func TestTestsAreRanks(t *testing.T) {
	t.Parallel()
	code, out := onOneHost(t, "-n", "3", "--tag-output", binary(t, "worldtest.test"), "-test.v", "-test.timeout=30s")
	if code != 0 {
		t.Fatalf("code %d\n%s", code, out)
	}
	for _, want := range []string{
		"rank 2 of 3, of a job on 3\n",
		"left out: it takes 5 ranks, and the job has 3\n",
		"--- PASS: TestBodiesHaveTheirRanks",
		"--- SKIP: TestRun",
		"--- SKIP: TestJoinByItself",
	} {
		for _, rank := range []string{"[0]", "[1]", "[2]"} {
			if !strings.HasPrefix(want, "rank") && !has(out, rank, want) {
				t.Errorf("%s does not say %q\n%s", rank, want, out)
			}
		}
		if !strings.Contains(out, want) {
			t.Errorf("nobody says %q\n%s", want, out)
		}
	}
}

// has reports whether a line of a rank contains a text.
func has(out, rank, text string) bool {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, rank) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// A rank that fails in the middle of a test ends the job, and is heard.
func TestTestsThatFailAsRanks(t *testing.T) {
	t.Parallel()
	code, out := onOneHost(t, "-n", "2", "--tag-output", "-x", "GOLAUNCH_WORLDTEST_BAD=fatal", binary(t, "worldtest.test"), "-test.timeout=30s")
	if code != 1 || !strings.Contains(out, "out of cheese") || !strings.Contains(out, "golaunch: rank 1 (") || strings.Contains(out, "the test goes on") {
		t.Errorf("code %d\n%s", code, out)
	}
}
