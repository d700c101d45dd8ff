package schedule

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata anew")

// goldenPlan is the plan whose schedules testdata has: parts of two and three
// elements, cut after two, and a root that is not rank 0.
func goldenPlan(a Algorithm, size int) Plan {
	p := Plan{Algorithm: a, Size: size, Count: 2*size + 1}
	if a.Rooted() {
		p.Root = size / 3
	}
	if a.Chunked() {
		p.Chunk = 2
	}
	if a.Hosted() {
		p.Hosts, p.Count = layouts(a, size)[0], 5
	}
	if strings.Contains(a.String(), "gather_") {
		p.Count = 3
	}
	return p
}

func goldenText(t *testing.T, p Plan) string {
	t.Helper()
	all, err := p.All()
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(all); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%v: %d ranks, root %d, %d elements, chunks of %d\n", p.Algorithm, p.Size, p.Root, p.Count, p.Chunk)
	for _, s := range all {
		fmt.Fprintf(&text, "\n%v", s)
	}
	return text.String()
}

// TestGolden shows every change to a schedule. Write the files with
// go test ./collectives/schedule -run Golden -update.
func TestGolden(t *testing.T) {
	expected := map[string]bool{}
	for _, a := range Algorithms() {
		for size := 1; size <= maxRanks; size++ {
			file := filepath.Join("testdata", fmt.Sprintf("%v_%d.txt", a, size))
			expected[file] = true
			compareGolden(t, file, goldenText(t, goldenPlan(a, size)))
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !expected[f] {
			t.Errorf("%s belongs to no algorithm", f)
		}
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
