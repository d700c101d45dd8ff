package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// TestQuick runs everything once: every case of this project, and of the peers
// where they are installed.
func TestQuick(t *testing.T) {
	dependOnSources(t)
	peers := []string{report.OpenMPI, report.MPICH}
	if err := missing(peers); err != nil {
		t.Run("peers", func(t *testing.T) { t.Skip(err) })
		peers = []string{nobody}
	}
	docs := newDocs(t)
	var out, progress strings.Builder
	args := []string{"--quick", "--docs", docs, "--peers", strings.Join(peers, ",")}
	if code := realMain(t.Context(), args, &out, &progress); code != 0 {
		t.Fatalf("code %d: %s", code, progress.String())
	}
	var labels []string
	for _, row := range report.Rows() {
		labels = append(labels, "| "+row.Label+" |")
	}
	checkDocs(t, docs, labels...)
	if slices.Equal(peers, []string{nobody}) {
		return
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, " | - |") {
			t.Errorf("a figure is missing: %s", line)
		}
	}
}

// dependOnSources looks at every source file of the module, so that go test's
// cache knows that the programs which the test builds depend on them.
func dependOnSources(t *testing.T) {
	t.Helper()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".go", ".s", ".c", ".h"}, filepath.Ext(path)) {
			return err
		}
		files++
		_, err = os.Stat(path)
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d source files in %s: %v", files, root, err)
	}
}
