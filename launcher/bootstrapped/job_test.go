package bootstrapped

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The app checks itself against a serial computation.
func TestWordcount(t *testing.T) {
	t.Parallel()
	source := filepath.Join(goRoot(t), "src", "strings") // does not change meanwhile
	everywhere(t, func(t *testing.T, m manager) {
		for _, n := range []int{1, 2, 4} {
			got := m.run(t, n, nil, binary(t, "wordcount"), "--verify", source)
			if got.code != 0 || !strings.Contains(got.stdout, "\nverified") || got.stderr != "" {
				t.Errorf("%d ranks: %s", n, got)
			}
			t.Logf("%d ranks: %v", n, got.took)
		}
	})
}

func goRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("bootstrapped: the go command is needed:", err)
	}
	return strings.TrimSpace(string(out))
}

// Ranks know who they are, and share memory.
func TestRanksOfOneHost(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		for _, n := range []int{1, 3, 16} {
			got := m.role(t, n, "hello")
			var want []string
			for rank := range n {
				paths := slices.Repeat([]string{"shm"}, n)
				paths[rank] = "self"
				want = append(want, fmt.Sprintf("rank %d of %d on %s reached all by %v", rank, n, hostname(t), paths))
			}
			slices.Sort(want)
			if got.code != 0 || !slices.Equal(lines(got.stdout), want) || got.stderr != "" {
				t.Errorf("%d ranks: %s\nwant %q", n, got, want)
			}
		}
	})
}

// The helper outlives the rank that has started it.
func TestTheFirstRankLeavesFirst(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		if got := m.role(t, 4, "relay"); got.code != 0 || strings.Count(got.stdout, "of 3 on") != 3 {
			t.Errorf("%s", got)
		}
	})
}

func TestJoinTwice(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		got := m.role(t, 2, "twice")
		if strings.HasSuffix(m.name, "port") { // nothing says that the address was used
			return
		}
		if got.code != 0 || strings.Count(got.stdout, "this process has joined already") != 2 {
			t.Errorf("%s", got)
		}
	})
}

func TestVersionsDiffer(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, m manager) {
		if strings.HasSuffix(m.name, "port") { // the role does not know its rank before it has joined
			return
		}
		got := m.role(t, 3, "version")
		for tries := 1; got.code == killedBySignal && tries < 4; tries++ { // hydra 4.0.2 crashes now and then when ranks fail
			got = m.role(t, 3, "version")
		}
		if got.code == 0 || !strings.Contains(got.stdout+got.stderr, "was built with version 0.0.1 of golaunch") {
			t.Errorf("%s", got)
		}
	})
}

// One program of two under nobody is a world of one.
func TestStartedByNobody(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(self(t))
	cmd.Env = append(cmd.Environ(), envRole+"=hello")
	got := launch(t, cmd, cmd.Start).wait()
	if want := []string{"rank 0 of 1 on " + hostname(t) + " reached all by [self]"}; got.code != 0 || !slices.Equal(lines(got.stdout), want) {
		t.Errorf("%s, want %q", got, want)
	}
}

// ranAs is what worldtest.Anywhere logs for each body.
var ranAs = regexp.MustCompile(`worldtest: rank \d+ of \d+, of a job on (\d+)`)

// uneventful are the lines of tests that pass.
var uneventful = regexp.MustCompile(`(?m)^ *(=== (RUN|CONT|PAUSE|NAME)|--- (PASS|SKIP)|\S+:\d+: worldtest:).*\n`)

// bodies is how many bodies of a room's tests must have run on a rank of a job, by
// its size: were they left out, the tests would pass as well.
var bodies = map[string]map[int]int{
	"window":        {1: 2, 2: 10, 4: 30},
	"collectives":   {1: 1, 2: 15, 4: 20},
	"runtime/world": {4: 200},
}

// The tests of the rooms that ranks see hold between processes that golaunch has
// not started.
func TestConformance(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T, n int, program ...string) result {
		return manager{"hydra", hydra, nil}.run(t, n, nil, program...)
	}, 1, 2, 4)
}

func conform(t *testing.T, run func(t *testing.T, n int, program ...string) result, sizes ...int) {
	for room, least := range bodies {
		for _, n := range sizes {
			if least[n] == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s on %d ranks", room, n), func(t *testing.T) {
				got := run(t, n, binary(t, filepath.Base(room)+".test"), "-test.v", fmt.Sprint("-test.timeout=", deadline*9/10))
				ran := len(ranAs.FindAllString(got.stdout, -1)) / n
				if got.code != 0 || strings.Contains(got.stdout, "--- FAIL") || ran < least[n] {
					got.stdout = uneventful.ReplaceAllString(got.stdout, "")
					t.Errorf("%d bodies a rank, want %d: %s", ran, least[n], got)
				}
				t.Logf("%d bodies a rank in %v", ran, got.took)
			})
		}
	}
}

func lines(text string) []string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(all)
	return all
}
