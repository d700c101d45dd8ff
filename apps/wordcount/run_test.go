package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

// tree is a source tree with everything that makes counting hard.
func tree() map[string]string {
	files := map[string]string{
		"empty.go":      "",
		"unicode.go":    "package größe; var 世界, größe = 1, 世界",
		"dup/dup.go":    "package dup; var x, y = y, x",
		"dup/again.go":  "package dup; var x, y = y, x",
		"broken.go":     "package ( x := \"open\n y }}",
		"binary.go":     "a\x00b\xff\xfec",
		"no-ids.go":     "// nothing\n",
		"huge/huge.go":  strings.Repeat("var huge, größe = x(y, 世界)\n", 50_000),
		"huge/many.go":  "package many\n",
		"not-counted.c": "int main",
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "id%d ", i)
	}
	files["huge/many.go"] += many.String()
	return files
}

// serialCount is what the ranks must find.
func serialCount(t *testing.T, files map[string]string) *counter {
	t.Helper()
	c := newCounter()
	for name, src := range files {
		if strings.HasSuffix(name, ".go") {
			c.files++
			c.bytes += uint64(len(src))
			if err := c.source([]byte(src)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c
}

// runRanks runs the program on n ranks, and returns what they wrote and the
// error of each.
func runRanks(t *testing.T, n int, opt options) (string, []error) {
	t.Helper()
	var mu sync.Mutex
	var out strings.Builder
	errs := make([]error, n)
	worldtest.Run(t, n, func(ctx context.Context, comm *world.Comm) {
		var mine strings.Builder
		errs[comm.Rank()] = run(ctx, comm, opt, &mine, &progress{})
		mu.Lock()
		defer mu.Unlock()
		out.WriteString(mine.String())
	})
	return out.String(), errs
}

func TestRun(t *testing.T) {
	files := tree()
	root := writeTree(t, files)
	want := serialCount(t, files)
	for n := 1; n <= 4; n++ {
		out, errs := runRanks(t, n, options{roots: []string{root}, top: 6000, json: true, verify: true})
		for rank, err := range errs {
			if err != nil {
				t.Fatalf("%d ranks: rank %d: %v", n, rank, err)
			}
		}
		checkResult(t, n, out, want)
	}
}

func checkResult(t *testing.T, n int, out string, want *counter) {
	t.Helper()
	var got resultJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%d ranks: %v in %s", n, err, out)
	}
	counts := map[string]uint64{}
	for _, w := range got.Top {
		counts[w.Name] = w.Count
	}
	if diff := cmp.Diff(want.counts, counts); diff != "" {
		t.Errorf("%d ranks: (-want +got)\n%s", n, diff)
	}
	if got.Files != want.files || got.Bytes != want.bytes || got.Identifiers != want.identifiers ||
		got.Distinct != uint64(len(want.counts)) || got.Verified == nil || !*got.Verified {
		t.Errorf("%d ranks: %+v; want %d files, %d bytes, %d identifiers", n, got, want.files, want.bytes, want.identifiers)
	}
	checkShares(t, n, got)
}

func checkShares(t *testing.T, n int, got resultJSON) {
	t.Helper()
	if len(got.Ranks) != n {
		t.Fatalf("%d ranks: %d shares", n, len(got.Ranks))
	}
	var files, identifiers uint64
	for _, r := range got.Ranks {
		files += r.Files
		identifiers += r.Identifiers
	}
	if files != got.Files || identifiers != got.Identifiers {
		t.Errorf("%d ranks: shares of %d files and %d identifiers do not make up the whole", n, files, identifiers)
	}
}

func TestTopIsTheSameForAnyNumberOfRanks(t *testing.T) {
	root := writeTree(t, tree())
	var first []word
	for n := 1; n <= 4; n++ {
		out, errs := runRanks(t, n, options{roots: []string{root}, top: 7, json: true})
		var got resultJSON
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err, errs)
		}
		if n == 1 {
			first = got.Top
		}
		if diff := cmp.Diff(first, got.Top); diff != "" || len(got.Top) != 7 {
			t.Errorf("%d ranks: (-1 rank +got)\n%s", n, diff)
		}
	}
}

func TestRunPrintsText(t *testing.T) {
	root := writeTree(t, map[string]string{"a.go": "package a"})
	out, errs := runRanks(t, 3, options{roots: []string{root}, top: 20})
	if errs[0] != nil || !strings.HasPrefix(out, "1 identifier, 1 different, in 1 file of") || !strings.Contains(out, "1  a") {
		t.Errorf("%v\n%s", errs, out)
	}
}

func TestFilesWithoutIdentifiers(t *testing.T) {
	root := writeTree(t, map[string]string{"a.go": "", "b.go": "// b"})
	out, errs := runRanks(t, 2, options{roots: []string{root}, top: 20, verify: true})
	if errs[0] != nil || errs[1] != nil || !strings.HasPrefix(out, "0 identifiers") {
		t.Errorf("%v\n%s", errs, out)
	}
}

// TestListFailureEndsAllRanks: rank 0 alone knows what went wrong.
func TestListFailureEndsAllRanks(t *testing.T) {
	_, errs := runRanks(t, 3, options{roots: []string{"/nowhere/at/all"}})
	for rank, err := range errs {
		if err == nil {
			t.Errorf("rank %d: no error", rank)
		}
	}
	if !strings.Contains(errs[0].Error(), "rank 0: ") || !strings.Contains(errs[0].Error(), "/nowhere/at/all") {
		t.Errorf("rank 0: %v", errs[0])
	}
}

// TestVanishedFileEndsAllRanks: whoever draws it names the file and itself.
func TestVanishedFileEndsAllRanks(t *testing.T) {
	root := writeTree(t, map[string]string{"a.go": "package a"})
	files := []source{{path: root + "/a.go"}, {path: root + "/gone.go"}, {path: root + "/a.go"}}
	errs := make([]error, 3)
	worldtest.Run(t, 3, func(ctx context.Context, comm *world.Comm) {
		_, _, errs[comm.Rank()] = countFiles(ctx, comm, files, &progress{})
	})
	named := 0
	for rank, err := range errs {
		if err == nil {
			t.Errorf("rank %d: no error", rank)
		} else if strings.Contains(err.Error(), fmt.Sprintf("rank %d: open %s/gone.go", rank, root)) {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d ranks name the file: %v", named, errs)
	}
}
