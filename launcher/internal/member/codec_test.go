package member

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

func fullMeta() Meta {
	m := Meta{
		Control: 1, Slots: 2, Cores: 3, Memory: 4, Labels: 5, Platform: "linux/amd64", Version: strings.Repeat("v", 32),
		life: 6, keys: [4]uint32{7, 8, 9, 10},
	}
	for i := range m.Devices {
		m.Devices[i] = Device{"devices" + string(rune('0'+i)), uint16(i)}
	}
	return m
}

func TestMeta(t *testing.T) {
	if MetaSize > 400 {
		t.Errorf("MetaSize = %d", MetaSize)
	}
	for _, m := range []Meta{{}, fullMeta()} {
		b, err := m.encode()
		if err != nil || len(b) != MetaSize {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		if got, err := decodeMeta(b); err != nil || got != m {
			t.Errorf("%+v, %v, want %+v", got, err, m)
		}
	}
	for _, m := range []Meta{{Platform: "\n"}, {Platform: strings.Repeat("x", 17)}, {Devices: [4]Device{{Kind: "graphical"}}}} {
		if _, err := m.encode(); err == nil {
			t.Errorf("%+v was encoded", m)
		}
	}
}

func FuzzMeta(f *testing.F) {
	m := fullMeta()
	b, _ := m.encode()
	f.Add(b)
	f.Add(b[:50])
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			return
		}
		if again, err := m.encode(); err != nil || string(again) != string(b) {
			t.Errorf("%x was read as %+v, which is written %x, %v", b, m, again, err)
		}
	})
}

func FuzzGoodbye(f *testing.F) {
	f.Add(encodeGoodbye(roster.Goodbye{Name: "node-a", Life: 1 << 60}))
	f.Add([]byte{goodbyeKind})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decodeGoodbye(b)
		if err == nil && string(encodeGoodbye(g)) != string(b) {
			t.Errorf("%x was read as %+v", b, g)
		}
	})
}

func exampleSnapshot(t testing.TB) snapshot {
	s, err := decodeSnapshot([]byte("golaunch members 1\nlife 77\nnode-a 10.0.0.1:7946\nb [fe80::1]:1\nend\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSnapshotDecoding(t *testing.T) {
	s := exampleSnapshot(t)
	if got := s.addrs(); s.life != 77 || !slices.Equal(got, []string{"10.0.0.1:7946", "[fe80::1]:1"}) {
		t.Errorf("%+v", s)
	}
	const head = "golaunch members 1\nlife 1\n"
	for text, want := range map[string]string{
		"":                             "does not begin with",
		"golaunch members 2\n":         "does not begin with",
		"golaunch members 1\nlife x\n": "does not say whose",
		head + "a 1.2.3.4:5\n":         "its end is missing",
		head + "a 1.2.3.4\nend\n":      `a: "1.2.3.4" is not an address with a port`,
		head + "a/b 1.2.3.4:5\nend\n":  `the name "a/b"`,
		head + "\nend\n":               "needs a name",
		strings.Repeat(" ", 1<<18+1):   "longer than",
		head + strings.Repeat("a 1.2.3.4:5\n", maxRemembered+1) + "end\n": "more than 1024",
	} {
		if _, err := decodeSnapshot([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func FuzzSnapshot(f *testing.F) {
	s := exampleSnapshot(f)
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeSnapshot(b)
		if err != nil {
			return
		}
		again, err := decodeSnapshot(s.encode())
		if err != nil || again.life != s.life || !slices.Equal(again.members, s.members) {
			t.Errorf("%q: %v", b, err)
		}
	})
}

// A file that is there stays whole when it cannot be replaced; a broken one does not
// keep a member from starting.
func TestSnapshotFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "members")
	s := exampleSnapshot(t)
	if err := replace(path, s.encode()); err != nil {
		t.Fatal(err)
	}
	if got, err := readSnapshot(path); err != nil || !slices.Equal(got.members, s.members) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := replace(filepath.Join(dir, "none", "members"), s.encode()); err == nil {
		t.Error("it was written nowhere")
	}
	os.WriteFile(path, []byte("golaunch members 1\nlife 1\na 1.2"), 0o600)
	if _, err := readSnapshot(path); err == nil {
		t.Error("half a file was read")
	}
	c := start(t, "a", func(o *Options) { o.Snapshot = path })
	c.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSplitAddress(t *testing.T) {
	for s, want := range map[string]string{
		"node":           "node 7946",
		"node:1":         "node 1",
		"node.a.b:65535": "node.a.b 65535",
		"10.0.0.1":       "10.0.0.1 7946",
		"10.0.0.1:9":     "10.0.0.1 9",
		"::1":            "::1 7946",
		"[::1]":          "::1 7946",
		"[::1]:9":        "::1 9",
		"":               "error", ":1": "error", "a:b:c": "error", "a:0": "error", "a:65536": "error", "a:-1": "error",
	} {
		host, port, err := splitAddress(s)
		got := "error"
		if err == nil {
			got = host + " " + strings.TrimPrefix(strings.TrimSpace(slog.AnyValue(port).String()), "")
		}
		if got != want {
			t.Errorf("%q: %s, %v, want %s", s, got, err, want)
		}
	}
	for _, s := range []string{"127.0.0.1:9", "localhost:9"} {
		if addrs, err := resolve(t.Context(), s); err != nil || len(addrs) == 0 || !addrs[0].Addr().IsLoopback() {
			t.Errorf("%s: %v, %v", s, addrs, err)
		}
	}
}

func TestLogLines(t *testing.T) {
	for line, want := range map[string]slog.Level{
		"[DEBUG] memberlist: text\n": slog.LevelDebug,
		"[INFO] memberlist: text\n":  slog.LevelInfo,
		"[WARN] memberlist: text\n":  slog.LevelWarn,
		"[ERR] memberlist: text\n":   slog.LevelWarn,
		"text":                       slog.LevelWarn,
	} {
		if level, text := parseLine(line); level != want || text != "text" {
			t.Errorf("%q: %v %q", line, level, text)
		}
	}
	if _, text := parseLine(strings.Repeat("x", 1000)); len(text) > maxLine+3 {
		t.Errorf("%d bytes", len(text))
	}
	var got []string
	now := time.Now()
	l := &liner{allowed: burst, last: now}
	passed := 0
	for i := range 1000 {
		if dropped, ok := l.admit(now.Add(time.Duration(i) * time.Millisecond)); ok {
			if passed++; dropped > 0 {
				got = append(got, "dropped")
			}
		}
	}
	if passed != burst || len(got) != 0 {
		t.Errorf("%d lines of 1000 in a second, want %d", passed, burst)
	}
	if dropped, ok := l.admit(now.Add(2 * time.Second)); !ok || dropped != 1000-burst {
		t.Errorf("%d, %v", dropped, ok)
	}
}

func TestAdvertise(t *testing.T) {
	o := Options{Bind: "0.0.0.0", Keys: keyOf(t, "a")}
	bound, err := o.bindAddr()
	if err != nil || bound.IsValid() {
		t.Fatal(bound, err)
	}
	a, err := o.advertiseAddr(bound)
	if err != nil || !a.IsValid() || a.IsUnspecified() {
		t.Error(a, err)
	}
	o.Advertise = "192.0.2.7"
	if a, err := o.advertiseAddr(bound); err != nil || a.String() != "192.0.2.7" {
		t.Error(errors.Join(err), a)
	}
}
