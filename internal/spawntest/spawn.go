// Package spawntest runs the body of a test in several processes, for tests of
// protocols between processes that do not want a launcher under them.
//
// A test calls Rank first. In the parent it goes on and calls Run, which starts
// the test binary again, once a rank, with only this test selected; there Rank
// says which rank it is. AsNobody shows what other users may not do.
package spawntest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const variable = "GOLAUNCH_SPAWNTEST"

// FirstFile is the descriptor at which a rank finds the first of Run's files.
const FirstFile = 3

// Rank reports whether this process is a rank of Run, and which.
func Rank() (rank int, ok bool) {
	rank, err := strconv.Atoi(os.Getenv(variable))
	return rank, err == nil
}

// Run starts n ranks of the calling test with extra environment and inherited
// files, waits for them, and fails the test with the output of each that fails.
func Run(t *testing.T, n int, env []string, files ...*os.File) {
	t.Helper()
	var wait sync.WaitGroup
	for rank := range n {
		cmd := Command(t, rank, env, files...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		wait.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("rank %d: %v\n%s", rank, err, out.String())
			}
		})
	}
	wait.Wait()
}

// Command is one rank of Run, not yet started. It ends with the test.
func Command(t *testing.T, rank int, env []string, files ...*os.File) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+pattern(t.Name())+"$", "-test.count=1", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", variable, rank))
	cmd.Env = append(cmd.Env, env...)
	cmd.ExtraFiles = files
	return cmd
}

// pattern selects one test or subtest and nothing else.
func pattern(name string) string { return strings.ReplaceAll(name, "/", "$/^") }
