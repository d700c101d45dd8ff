package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a cluster that answers what it is told to.
type fake struct {
	nodes  []Node
	err    error
	clocks map[string]func() (time.Time, error)
}

func (f *fake) Nodes(context.Context) ([]Node, error) { return f.nodes, f.err }
func (f *fake) Clock(_ context.Context, n Node) (time.Time, error) {
	return f.clocks[n.Name]()
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) func() (time.Time, error) {
	return func() (time.Time, error) { return noon.Add(d), nil }
}

// healthy is a host with nothing wrong; its agent knows three members.
func healthy(t *testing.T) (Config, *fake) {
	dir := t.TempDir()
	for _, d := range []string{"state", "runtime", "cache"} {
		os.Mkdir(filepath.Join(dir, d), 0o700)
	}
	key := filepath.Join(dir, "state", "key")
	if _, err := keys.Generate(key); err != nil {
		t.Fatal(err)
	}
	gossip, control := free(t), free(t)
	for _, group := range []string{"", "/a", "/a/b"} {
		write(t, filepath.Join(dir, "sys/fs/cgroup"+group, "pids.max"), "100000\n")
		write(t, filepath.Join(dir, "sys/fs/cgroup"+group, "pids.current"), "17\n")
	}
	write(t, filepath.Join(dir, "proc/self/cgroup"), "1:name=systemd:/x\n0::/a/b\n")
	f := &fake{
		nodes:  []Node{{Name: "a", State: "alive", Version: "1", Self: true}, {Name: "b", State: "alive", Version: "1"}, {Name: "c", State: "left"}},
		clocks: map[string]func() (time.Time, error){"a": at(0), "b": at(900 * time.Millisecond)},
	}
	return Config{
		KeyFile: key, State: filepath.Join(dir, "state"), Runtime: filepath.Join(dir, "runtime"), Cache: filepath.Join(dir, "cache"),
		Bind: "127.0.0.1", GossipPort: gossip, ControlPort: control, Ranks: 1, Version: "1", Root: dir,
		Now: func() time.Time { return noon },
	}, f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	os.MkdirAll(filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// free is a port that nobody has.
func free(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// take occupies the agent's ports.
func take(t *testing.T, c Config) {
	for _, port := range []int{c.GossipPort, c.ControlPort} {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			t.Skip("somebody has taken the port:", err)
		}
		t.Cleanup(func() { l.Close() })
	}
	p, err := net.ListenPacket("udp", fmt.Sprint("127.0.0.1:", c.GossipPort))
	if err != nil {
		t.Skip("somebody has taken the port:", err)
	}
	t.Cleanup(func() { p.Close() })
}

func TestHealthy(t *testing.T) {
	c, f := healthy(t)
	take(t, c)
	c.Cluster = f
	findings := Examine(t.Context(), c)
	for _, f := range findings {
		if f.Status != OK || f.Advice != "" {
			t.Errorf("%+v", f)
		}
	}
	if len(findings) < 13 || !Healthy(findings) {
		t.Errorf("%d findings", len(findings))
	}
}

// Each thing that can be wrong is found, and nothing else is.
func TestWhatIsWrong(t *testing.T) {
	several := []string{"no key is named", "no key for others", "the agent is silent", "a wrong clock"} // findings
	for name, tt := range map[string]struct {
		spoil func(*testing.T, *Config, *fake)
		check string
		want  Status
		found string
	}{
		"no key":             {func(_ *testing.T, c *Config, _ *fake) { c.KeyFile = c.State + "/none" }, "key", Warn, "binds loopback only"},
		"no key is named":    {func(_ *testing.T, c *Config, _ *fake) { c.KeyFile = "" }, "key", Warn, "there is none"},
		"no key for others":  {func(_ *testing.T, c *Config, _ *fake) { c.KeyFile = "" }, "member b", Warn, "it is not asked"},
		"the key is open":    {func(_ *testing.T, c *Config, _ *fake) { os.Chmod(c.KeyFile, 0o644) }, "key", Fail, "others may read it"},
		"the key is garbage": {func(t *testing.T, c *Config, _ *fake) { write(t, c.KeyFile, "x") }, "key", Fail, "too short"},
		"the key can be replaced": {func(t *testing.T, c *Config, _ *fake) {
			c.KeyFile = filepath.Join(t.TempDir(), "key")
			keys.Generate(c.KeyFile)
			os.Chmod(filepath.Dir(c.KeyFile), 0o777)
		}, "key", Fail, "others may replace the file"},
		"the state is open":      {func(_ *testing.T, c *Config, _ *fake) { os.Chmod(c.State, 0o755) }, "state directory", Fail, "(mode 0755)"},
		"the cache is a file":    {func(_ *testing.T, c *Config, _ *fake) { c.Cache = c.KeyFile }, "cache directory", Fail, "is no directory"},
		"the cache is on proc":   {func(_ *testing.T, c *Config, _ *fake) { c.Cache = "/proc/golaunch" }, "cache directory", Warn, "/proc has 0 MB left"},
		"long runtime directory": {func(_ *testing.T, c *Config, _ *fake) { c.Runtime += strings.Repeat("/x", 60) }, "runtime directory", Fail, "a Unix socket's path only 107"},
		"the agent is silent":    {func(_ *testing.T, _ *Config, f *fake) { f.err = errors.New("no route") }, "agent", Fail, "no route"},
		"few processes": {func(t *testing.T, c *Config, _ *fake) {
			write(t, filepath.Join(c.Root, "sys/fs/cgroup/a/pids.max"), "100")
		}, "processes of the control group", Warn, "83 of 100 are left in /a, and 1 rank may need 124"},
		"a wrong clock":    {func(_ *testing.T, c *Config, _ *fake) { c.Now = func() time.Time { return time.Unix(0, 0) } }, "clock", Fail, "1970"},
		"another time":     {func(_ *testing.T, _ *Config, f *fake) { f.clocks["b"] = at(-90 * time.Second) }, "member b", Warn, "1m30s behind"},
		"another version":  {func(_ *testing.T, _ *Config, f *fake) { f.nodes[1].Version = "2" }, "member b", Fail, "it runs version 2"},
		"a dead member":    {func(_ *testing.T, _ *Config, f *fake) { f.nodes[1].State = "dead" }, "member b", Warn, "gossip has found it dead"},
		"a useless member": {func(_ *testing.T, _ *Config, f *fake) { f.nodes[1].Problem = "garbled" }, "member b", Fail, "garbled"},
		"a firewall": {func(_ *testing.T, _ *Config, f *fake) {
			f.clocks["b"] = func() (time.Time, error) { return time.Time{}, errors.New("timed\tout\n") }
		}, "member b", Fail, "does not answer: timed"},
		"alone": {func(_ *testing.T, _ *Config, f *fake) { f.nodes = f.nodes[:1] }, "members", Warn, "this host is alone"},
	} {
		t.Run(name, func(t *testing.T) {
			c, f := healthy(t)
			take(t, c)
			c.Cluster = f
			tt.spoil(t, &c, f)
			hit := false
			for _, f := range Examine(t.Context(), c) {
				switch {
				case f.Check == tt.check && f.Status == tt.want && strings.Contains(f.Found, tt.found):
					hit = true
					if f.Advice == "" {
						t.Errorf("there is no advice: %+v", f)
					}
				case f.Status != OK && f.Check != tt.check && !slices.Contains(several, name):
					t.Errorf("also %+v", f)
				}
			}
			if !hit {
				t.Errorf("%+v", Examine(t.Context(), c))
			}
		})
	}
}

// Without an agent the rest is examined: ports are free, or somebody else's.
func TestWithoutAnAgent(t *testing.T) {
	c, _ := healthy(t)
	status := func() map[string]Status {
		m := make(map[string]Status)
		for _, f := range Examine(t.Context(), c) {
			m[f.Check] = f.Status
		}
		return m
	}
	gossip := fmt.Sprintf("port %d/udp", c.GossipPort)
	if s := status(); s["agent"] != Warn || s[gossip] != OK || s["key"] != OK {
		t.Errorf("%v", s)
	}
	take(t, c)
	if s := status(); s[gossip] != Fail {
		t.Errorf("%v", s)
	}
	c.Bind = "192.0.2.1"
	if s := status(); s[gossip] != Fail {
		t.Errorf("%v", s)
	}
}

func TestNoControlGroup(t *testing.T) {
	c, _ := healthy(t)
	for _, text := range []string{"", "1:name=systemd:/x\n", "0::/../../..\n"} {
		write(t, filepath.Join(c.Root, "proc/self/cgroup"), text)
		for _, f := range c.pids(1) {
			if f.Status != OK {
				t.Errorf("%q: %+v", text, f)
			}
		}
	}
}

func TestMounts(t *testing.T) {
	for _, tt := range []struct {
		flags    int64
		free     uint64
		programs bool
		want     Status
	}{
		{0, 1 << 40, true, OK},
		{0, 0, false, OK},
		{0, 1 << 20, true, Warn},
		{unix.ST_NOEXEC, 1 << 40, true, Fail},
		{unix.ST_NOEXEC, 1 << 40, false, OK},
		{unix.ST_RDONLY, 1 << 40, false, Fail},
	} {
		if got := judge(ok("x", "good"), "--x", "/x", tt.flags, tt.free, tt.programs); got.Status != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
}

func TestWriting(t *testing.T) {
	findings := []Finding{ok("a", "fine"), fail("member b", "do\nthis", "timed\tout")}
	var b bytes.Buffer
	WriteTable(&b, findings)
	want := "ok    a         fine\nfail  member b  timed out\n                  -> do this\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	WriteJSON(&b, findings)
	var got struct {
		Healthy  bool
		Findings []Finding
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.Healthy || len(got.Findings) != 2 || got.Findings[1] != findings[1] {
		t.Errorf("%s, %v", b.String(), err)
	}
}
