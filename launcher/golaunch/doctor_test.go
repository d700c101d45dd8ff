package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher"
)

// examined is what golaunch doctor --json has found, by what was looked at.
func examined(t *testing.T, r result) map[string]string {
	t.Helper()
	var all struct {
		Healthy  bool
		Findings []struct{ Check, Status, Found, Advice string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
		t.Fatalf("%v: %s %s", err, r.stdout, r.stderr)
	}
	if all.Healthy != (r.code == 0) {
		t.Errorf("healthy %v, exit code %d", all.Healthy, r.code)
	}
	found := make(map[string]string)
	for _, f := range all.Findings {
		found[f.Check] = f.Status + ": " + f.Found
		if (f.Status == "ok") != (f.Advice == "") {
			t.Errorf("%+v", f)
		}
	}
	return found
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, 1)
	found := examined(t, c.launch(0, "doctor", "--json"))
	for check, want := range map[string]string{"key": "ok", "state directory": "ok", "runtime directory": "ok", "agent": "ok: it answers, and knows 2 members", "member a": "ok", "member b": "ok"} {
		if !strings.HasPrefix(found[check], want) {
			t.Errorf("%s: %q, want %s", check, found[check], want)
		}
	}
	other := filepath.Join(c.dir, "other")
	launch(t, "keygen", other).expect(t, result{0, "", ""})
	r := c.launch(0, "doctor", "--json", "--key-file", other)
	if found := examined(t, r); !strings.HasPrefix(found["member b"], "fail: gossip reaches it, but its agent") || r.code != 1 {
		t.Errorf("%d, %q", r.code, found["member b"])
	}
}

func TestDoctorWithoutAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := golaunch(t, "doctor", "--bind", "127.0.0.1:0")
	cmd.Env = append(cmd.Environ(), "GOLAUNCH_STATE="+dir+"/s", "GOLAUNCH_RUNTIME="+dir+"/r", "GOLAUNCH_CACHE="+dir+"/c", "GOLAUNCH_KEY_FILE="+dir+"/key")
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"warn  key ", "-> golaunch keygen makes one", "warn  agent ", "none runs on this host", "ok    state directory "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%v: no %q in\n%s", err, want, out)
		}
	}
	launch(t, "doctor", "--bind", "x:y").expect(t, result{launcher.CodeUsage, "", "--bind x:y"})
	launch(t, "doctor", "here").expect(t, result{launcher.CodeUsage, "", "doctor takes flags only"})
}
