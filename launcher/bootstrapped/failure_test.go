package bootstrapped

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// The job fails with a rank. Its code is the rank's or that of one that was killed
// for it, as it happens.
func TestFailingRank(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		if got := m.role(t, 3, "fail"); got.code == 0 {
			t.Errorf("%s", got)
		}
	})
}

// A rank that ends well without leaving has failed: the job ends, and nobody that
// waited for the rank has met it. hydra ends the job, and does not always say by its
// code that it has (of MPICH's own programs every other time).
func TestExitWithoutLeaving(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		got := m.role(t, 3, "silent")
		if strings.Contains(got.stdout, met) || got.code == 0 && !strings.HasPrefix(m.name, "hydra") {
			t.Errorf("%s", got)
		}
	})
}

func TestAbort(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		if got := m.role(t, 3, "abort"); got.code == 0 || m.name == "hydra, PMI-1" && got.code != 42 {
			t.Errorf("%s", got)
		}
	})
}

var processOf = regexp.MustCompile(`rank (\d+) is process (\d+)`)

// killed starts a job of 3 ranks and kills one. words are what the others say of
// that.
func killed(t *testing.T, m manager, rank int, flags ...string) (got result, words []string) {
	t.Helper()
	dir := t.TempDir()
	m.env = append(m.env[:len(m.env):len(m.env)], envRole+"=meet", envDir+"="+dir)
	r := m.start(t, 3, flags, self(t))
	r.await(3, "is process")
	for _, p := range processOf.FindAllStringSubmatch(r.stdout.String(), -1) {
		if p[1] == strconv.Itoa(rank) {
			pid, _ := strconv.Atoi(p[2])
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	got = r.wait()
	for other := range 3 {
		if word, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("rank-", other))); err == nil {
			words = append(words, string(word))
		}
	}
	return got, words
}

// The process manager ends the job when a rank is killed.
func TestKilledRank(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		if got, _ := killed(t, m, 1); got.code == 0 {
			t.Errorf("%s", got)
		}
	})
}

// Where the process manager does not, the other ranks are told, also when the rank
// was the one that has started the helper. (Debian's hydra always does.)
func TestKilledRankIsTold(t *testing.T) {
	t.Parallel()
	for rank := range 2 {
		got, words := killed(t, manager{"slurm", slurm, nil}, rank, "--kill-on-bad-exit=0")
		want := fmt.Sprintf("rank %d failed: it exited without leaving the job", rank)
		if !slices.Equal(words, []string{want, want}) || got.code == 0 {
			t.Errorf("%q, want %q twice: %s", words, want, got)
		}
	}
}
