package crosshost

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/netns"
)

// The apps check themselves against a serial computation.
func TestApps(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, netns.Options{})
	source := filepath.Join(goRoot(t), "src", "strings") // does not change meanwhile
	for _, ranks := range []int{3, 6} {
		n := strconv.Itoa(ranks)
		for _, app := range []struct {
			program []string
			says    string
		}{
			{[]string{binary(t, "wordcount"), "--verify", source}, "verified"},
			{[]string{binary(t, "heat"), "--n", "128", "--steps", "150", "--verify", "--out", ""}, "verified: equal to the serial result, bit for bit"},
		} {
			got := c.succeed(append([]string{"-n", n}, app.program...)...)
			if !strings.Contains(got.stdout, app.says) {
				t.Errorf("%s ranks: %s", n, got)
			}
		}
	}
}

func goRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("crosshost: the go command is needed:", err)
	}
	return strings.TrimSpace(string(out))
}
