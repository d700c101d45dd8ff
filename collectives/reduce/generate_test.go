//go:build amd64

package reduce

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestKernelsAreGenerated: the committed kernels are what the generator writes.
func TestKernelsAreGenerated(t *testing.T) {
	dir := t.TempDir()
	files := []string{"kernels_amd64.s", "kernels_amd64.go"}
	// The generator notes its arguments in what it writes, so they are those of go generate.
	bin := filepath.Join(dir, "asm")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./asm").CombinedOutput(); err != nil {
		t.Fatalf("building the generator: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), bin, "-out", files[0], "-stubs", files[1], "-pkg", "reduce")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("running the generator: %v\n%s", err, out)
	}
	for _, name := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run go generate ./collectives/reduce", name)
		}
	}
}
