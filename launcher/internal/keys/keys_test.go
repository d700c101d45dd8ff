package keys

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is 32 bytes that begin with c.
func secret(c byte) []byte { return append([]byte{c}, bytes.Repeat([]byte{0xa5}, 31)...) }

func inHex(c byte) string    { return hex.EncodeToString(secret(c)) }
func inBase64(c byte) string { return base64.StdEncoding.EncodeToString(secret(c)) }

func TestParse(t *testing.T) {
	raw := "0123456789abcdef-a raw key"
	for _, tt := range []struct {
		name, text string
		want       [][]byte
	}{
		{"generated", string(Ring{{secret(1)}}.format()), [][]byte{secret(1)}},
		{"two", string(Ring{{secret(2)}, {secret(1)}}.format()), [][]byte{secret(2), secret(1)}},
		{"hex", inHex(3) + "\n", [][]byte{secret(3)}},
		{"upper hex", strings.ToUpper(inHex(3)), [][]byte{secret(3)}},
		{"base64 without padding", strings.TrimRight(inBase64(4), "="), [][]byte{secret(4)}},
		{"a list without a header", inHex(1) + "\n\n  # a comment\r\n" + inBase64(2) + "\r\n", [][]byte{secret(1), secret(2)}},
		{"one twice", inHex(1) + "\n" + inBase64(1) + "\n", [][]byte{secret(1)}},
		{"raw", "  " + raw + "\n", [][]byte{[]byte(raw)}},
		{"raw lines", "a line of a raw key\nand another", [][]byte{[]byte("a line of a raw key\nand another")}},
		{"bytes", "\x00\xff\n" + strings.Repeat("\x80", 20), [][]byte{[]byte("\x00\xff\n" + strings.Repeat("\x80", 20))}},
		{"a raw key among others", string(Ring{{secret(2)}, {[]byte(raw)}}.format()), [][]byte{secret(2), []byte(raw)}},
	} {
		got, err := Parse([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if !slices.EqualFunc(got, tt.want, func(k Key, b []byte) bool { return bytes.Equal(k.secret, b) }) {
			t.Errorf("%s: %d keys, want %d, or others", tt.name, len(got), len(tt.want))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	var many string
	for i := range byte(maxKeys + 1) {
		many += inHex(i) + "\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"short", "0123456789abcde", "a key of 15 bytes is too short"},
		{"nothing", "", "a key of 0 bytes is too short"},
		{"header only", header + "\n", "there is no key in it"},
		{"a typing mistake", inHex(1) + "\n" + inHex(2)[:63] + "\n", "line 2 is not a key"},
		{"a typing mistake first", header + "\n" + inHex(1)[:63] + "!\n" + inHex(2), "line 2 is not a key"},
		{"too many", many, "there are 9 keys in it: want 8 at most"},
		{"long", strings.Repeat("x", maxKey+1), "a key of 4097 bytes is too long"},
		{"very long", strings.Repeat("x", maxKeys*maxKey+1), "it is longer than 32768 bytes"},
	} {
		if _, err := Parse([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(inHex(1) + "\n" + inBase64(2)))
	f.Add(Ring{{secret(2)}, {[]byte("0123456789abcdef")}}.format())
	f.Add([]byte("0123456789abcdef-a raw key"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ring, err := Parse(text)
		if err != nil {
			return
		}
		if len(ring) == 0 || len(ring) > maxKeys {
			t.Fatalf("%d keys", len(ring))
		}
		again, err := Parse(ring.format())
		if err != nil || !slices.EqualFunc(ring, again, Key.equal) {
			t.Fatalf("what was written is read as something else: %v", err)
		}
	})
}

// Derived keys differ by purpose and by key, and stay as they are from version to
// version.
func TestDerivedKeys(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []byte{1, 2} {
		k := Key{secret(c)}
		gossip, err1 := k.Gossip()
		job, err2 := k.Job("a")
		other, err3 := k.Job("b")
		agent, err4 := k.Role("p", "agent")
		caller, err5 := k.Role("p", "caller")
		if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"gossip": gossip, "job a": job, "job b": other, "agent": agent.Seed(), "caller": caller.Seed()} {
			name = fmt.Sprint(name, " of ", c)
			if len(b) != 32 || seen[string(b)] != "" {
				t.Errorf("%s: %d bytes, the same as %q", name, len(b), seen[string(b)])
			}
			seen[string(b)] = name
		}
	}
	gossip, _ := Key{secret(1)}.Gossip()
	if got := hex.EncodeToString(gossip[:4]) + " " + (Key{secret(1)}).Name(); got != "1005371c 9d348d7e18484871" {
		t.Errorf("the keys derived are others than before: %s", got)
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	k := Key{[]byte("0123456789abcdef")}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{k, Ring{k}, struct{ K Key }{k}} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, "0123") || strings.Contains(s, "48, 49") || strings.Contains(s, "0x30") || strings.Contains(s, "[48 49") {
				t.Errorf("%s of %T shows it", verb, v)
			}
		}
	}
}

func TestGenerateAndRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	k, err := Generate(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := Generate(path); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "not overwritten") {
		t.Errorf("a second time: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink(path, link)
	ring, err := Rotate(link)
	if err != nil || len(ring) != 2 || !ring[1].equal(k) {
		t.Fatalf("%v, %v", ring, err)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced by the file")
	}
	read, err := Read(path)
	if err != nil || !slices.EqualFunc(ring, read, Key.equal) {
		t.Errorf("%v, %v, want %v", read, err, ring)
	}
	for range maxKeys - 2 {
		if _, err := Rotate(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Rotate(path); err == nil || !strings.Contains(err.Error(), "no more fit") {
		t.Errorf("a ninth key: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A Secret that Kubernetes mounts is root's, and its group that of the pod.
func TestOthersMayRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 0, 1000); err != nil {
		t.Skip("takes root, to give a file to root:", err)
	}
	for _, tt := range []struct {
		mode os.FileMode
		self int
		want bool
	}{
		{0o400, 1000, false}, {0o440, 1000, false}, {0o640, 1000, false},
		{0o444, 1000, true}, {0o460, 1000, true}, {0o450, 1000, true},
		{0o400, 0, false}, {0o440, 0, true},
	} {
		os.Chmod(path, tt.mode)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := OthersMayRead(info, tt.self); got != tt.want {
			t.Errorf("mode %04o, user %d: %v, want %v", tt.mode, tt.self, got, tt.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		os.WriteFile(path, []byte("0123456789abcdef"), 0o600)
		os.Chmod(path, mode)
		return path
	}
	fifo := filepath.Join(dir, "fifo")
	syscall.Mkfifo(fifo, 0o600)
	tests := map[string]string{
		file("open", 0o640):         "others may read it (mode 0640): chmod 600",
		file("writable", 0o602):     "others may read it (mode 0602)",
		fifo:                        "it is not a regular file",
		dir:                         "it is not a regular file",
		filepath.Join(dir, "none"):  "no such file",
		filepath.Join(dir, "stray"): "it belongs to user 12345, who can change it: chown",
	}
	if err := os.Chown(file("stray", 0o600), 12345, -1); err != nil {
		delete(tests, filepath.Join(dir, "stray")) // not root
	}
	for path, want := range tests {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := Read(file("good", 0o400)); err != nil {
		t.Error(err)
	}
}
