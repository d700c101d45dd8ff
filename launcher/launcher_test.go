package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/runtime/job"
)

func TestEnvironment(t *testing.T) {
	base := []string{"A=1", "GOLAUNCH_RANK=3", "GOLAUNCH_SOCKET=3", "GOLAUNCH_OTHER=kept", "PWD=/old", "EMPTY="}
	for _, tt := range []struct {
		name    string
		segment Segment
		want    []string
		err     string
	}{
		{"as it is, but for what a rank is given", Segment{}, []string{"A=1", "GOLAUNCH_OTHER=kept", "PWD=/old", "EMPTY="}, ""},
		{"additions and replacements", Segment{Env: []string{"B=x=y", "A=2", "EMPTY", "C="}}, []string{"A=2", "GOLAUNCH_OTHER=kept", "PWD=/old", "EMPTY=", "B=x=y", "C="}, ""},
		{"a directory", Segment{Dir: "x"}, []string{"A=1", "GOLAUNCH_OTHER=kept", "PWD=/new", "EMPTY="}, ""},
		{"a name that is not set", Segment{Env: []string{"NOT"}}, nil, "-x NOT: it is not set"},
		{"one that only a rank has", Segment{Env: []string{"GOLAUNCH_RANK"}}, nil, "-x GOLAUNCH_RANK: it is not set"},
	} {
		got, err := environment(base, tt.segment, "/new")
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v %s", tt.name, err, diff)
		}
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	os.Mkdir("pkg", 0o755)
	os.WriteFile("pkg/main.go", nil, 0o644)
	os.WriteFile("prog", nil, 0o755)
	os.Mkdir("bin", 0o755)
	os.WriteFile("bin/tool", nil, 0o755)
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	for name, want := range map[string]struct {
		path      string
		isPackage bool
	}{"./pkg": {"pkg", true}, "pkg/": {"pkg", true}, "./prog": {"prog", false}, dir + "/prog": {"prog", false}, "tool": {"bin/tool", false}} {
		path, isPackage, err := find(name)
		if err != nil || path != filepath.Join(dir, want.path) || isPackage != want.isPackage {
			t.Errorf("find(%q) = %q, %v, %v", name, path, isPackage, err)
		}
	}
}

func TestSound(t *testing.T) {
	for _, m := range []func(rank int) control.Message{
		func(r int) control.Message { return &control.Started{Rank: r} },
		func(r int) control.Message { return &control.NotStarted{Rank: r} },
		func(r int) control.Message { return &control.Joined{Rank: r} },
		func(r int) control.Message { return &control.Left{Rank: r} },
		func(r int) control.Message { return &control.Lost{Rank: r} },
		func(r int) control.Message { return &control.Aborted{Rank: r} },
		func(r int) control.Message { return &control.Exited{Rank: r} },
		func(r int) control.Message { return &control.Address{Rank: r, Address: []byte("x")} },
		func(r int) control.Message { return &control.Report{Rank: r} },
		func(r int) control.Message { return &control.Output{Rank: r} },
		func(r int) control.Message { return &control.Closed{Rank: r} },
	} {
		for rank, want := range map[int]bool{-1: false, 1: false, 2: true, 4: true, 5: false} {
			if err := sound(&host{first: 2, ranks: 3}, m(rank)); (err == nil) != want {
				t.Errorf("%T of rank %d on a host of 2 to 4: %v", m(rank), rank, err)
			}
		}
	}
	if err := sound(&host{first: 2, ranks: 3}, &control.Done{}); err != nil {
		t.Error(err)
	}
	for _, n := range []int{0, job.MaxAddress + 1} {
		if err := sound(&host{ranks: 1}, &control.Address{Address: make([]byte, n)}); err == nil {
			t.Errorf("an address of %d bytes passes", n)
		}
	}
}

func TestRanksText(t *testing.T) {
	for want, ranks := range map[string][]int{
		"rank 3": {3}, "ranks 1, 2": {1, 2}, "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
	} {
		if got := ranksText(ranks); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEndings(t *testing.T) {
	for want, e := range map[string]*control.Exited{
		"has ended":          nil,
		"exited with code 3": {Code: 3},
		"was killed by signal 11 (SIGSEGV) and left a core file": {Code: -1, Signal: 11, CoreDumped: true},
		"was killed by signal 40 (signal 40)":                    {Code: -1, Signal: 40},
	} {
		if got := ending(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestStoppedText(t *testing.T) {
	for want, got := range map[string]string{
		"1 rank was stopped": stoppedText(1, false), "2 other ranks were stopped": stoppedText(2, true),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		ranks       int
		slots, want []int
	}{
		{5, []int{0, 0}, []int{3, 2}},
		{4, []int{1, 0, 0}, []int{1, 2, 1}},
		{9, []int{2, 0, 3}, []int{2, 4, 3}},
		{9, []int{0, 1, 1}, []int{7, 1, 1}},
		{3, []int{3, 3, 3}, []int{1, 1, 1}},
		{6, []int{3, 3}, []int{3, 3}},
		{7, []int{3, 3}, nil},
	} {
		if diff := cmp.Diff(tt.want, share(tt.ranks, tt.slots)); diff != "" {
			t.Errorf("%d ranks, slots %v: %s", tt.ranks, tt.slots, diff)
		}
	}
}

func TestBlocks(t *testing.T) {
	if diff := cmp.Diff([]int{3, 2, 2}, blocks(7, 3)); diff != "" {
		t.Error(diff)
	}
}
