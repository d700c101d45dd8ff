package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
)

// A fixture is a cache that a test may damage.
type fixture struct {
	*Cache
	t       *testing.T
	dir     string
	refused []string
}

func open(t *testing.T, dir string, limit int64) *fixture {
	t.Helper()
	f := &fixture{t: t, dir: dir}
	c, err := Open(dir, Options{Limit: limit, Report: func(r *Refused) { f.refused = append(f.refused, r.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	f.Cache = c
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// add puts content into the cache, in two writes.
func (f *fixture) add(content string) *Blob {
	f.t.Helper()
	p, err := f.Create(digest.Of([]byte(content)), int64(len(content)))
	f.must(err)
	for _, part := range []string{content[:len(content)/2], content[len(content)/2:]} {
		_, err = p.Write([]byte(part))
		f.must(err)
		f.must(p.Digest())
	}
	b, err := p.Publish()
	f.must(err)
	f.must(p.Discard()) // does nothing
	return b
}

func (f *fixture) lease(content string) (*Blob, error) {
	return f.Lease(digest.Of([]byte(content)))
}

func (f *fixture) has(content string) bool {
	b, err := f.lease(content)
	if err != nil {
		if !errors.Is(err, ErrMissing) {
			f.t.Error(err)
		}
		return false
	}
	return b.Close() == nil
}

func TestBlobs(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 0)
	if f.has("hello") {
		t.Error("a blob is there before it was added")
	}
	for _, content := range []string{"hello", "", strings.Repeat("x", 3*digestStep+1)} {
		added := f.add(content)
		defer added.Close()
		b, err := f.lease(content)
		f.must(err)
		defer b.Close()
		got, err := io.ReadAll(b)
		if err != nil || string(got) != content || b.Size != int64(len(content)) {
			t.Errorf("%d bytes of %d, %v", len(got), len(content), err)
		}
		if !f.Has(b.Sum, b.Size) || f.Has(b.Sum, b.Size+1) {
			t.Error("Has is wrong")
		}
		info, err := os.Stat(f.Path(b.Sum))
		f.must(err)
		if info.Mode() != 0o500 {
			t.Errorf("mode %v", info.Mode())
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, unix.EBADF) {
			t.Errorf("a lease can be written to: %v", err)
		}
	}
	again := open(t, f.dir, 0)
	if !again.has("hello") || len(f.refused)+len(again.refused) > 0 {
		t.Error(f.refused, again.refused)
	}
}

func TestAProgramCanBeExecutedAtOnce(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 0)
	b := f.add("#!/bin/sh\nexit 7\n")
	defer b.Close()
	p, err := os.StartProcess(f.Path(b.Sum), []string{"prog"}, &os.ProcAttr{})
	f.must(err)
	if state, err := p.Wait(); err != nil || state.ExitCode() != 7 {
		t.Error(state, err)
	}
}

func TestWrongContentIsNotPublished(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 100)
	for what, content := range map[string]string{"changed": "hellO", "cut off": "hell"} {
		p, err := f.Create(digest.Of([]byte("hello")), 5)
		f.must(err)
		_, err = p.Write([]byte(content))
		f.must(err)
		b, err := p.Publish()
		var mismatch *Mismatch
		if err == nil || errors.As(err, &mismatch) != (what == "changed") {
			t.Errorf("%s: %v %v", what, b, err)
		}
		f.must(p.Discard())
	}
	p, err := f.Create(digest.Of([]byte("hello")), 5)
	f.must(err)
	if _, err := p.Write([]byte("hello!")); err == nil {
		t.Error("more is written than the blob has")
	}
	f.must(p.Discard())
	if f.has("hello") || f.growing != 0 {
		t.Error("it is there;", f.growing, "bytes are reserved")
	}
	if left, _ := f.partial.Names(); len(left) > 0 {
		t.Error("left behind:", left)
	}
	if _, err := f.Create(digest.Sum{}, -1); err == nil {
		t.Error("a blob of -1 bytes is begun")
	}
}

// Everything that can lie where a blob should: refused by name, reported, and
// replaced by a blob that is fetched.
func TestWhatTheCacheHasNotPutThereIsRefused(t *testing.T) {
	const content = "#!/bin/sh\n"
	damage := map[string]func(f *fixture, path string) error{
		"is a symbolic link": func(f *fixture, path string) error {
			return errors.Join(os.Rename(path, f.dir+"/elsewhere"), os.Symlink(f.dir+"/elsewhere", path))
		},
		"2 names (hard links)": func(f *fixture, path string) error { return os.Link(path, f.dir+"/other") },
		"mode 0700":            func(_ *fixture, path string) error { return os.Chmod(path, 0o700) },
		"mode 4500":            func(_ *fixture, path string) error { return syscall.Chmod(path, 0o4500) },
		"not a regular file": func(_ *fixture, path string) error {
			return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o500))
		},
		"was changed": func(_ *fixture, path string) error {
			return errors.Join(os.Chmod(path, 0o700), os.WriteFile(path, []byte("#!/bin/rm\n"), 0), os.Chmod(path, 0o500))
		},
		"it has SHA-256": func(_ *fixture, path string) error {
			return errors.Join(os.Chmod(path, 0o700), os.Truncate(path, 3), os.Chmod(path, 0o500))
		},
	}
	if os.Geteuid() == 0 {
		damage["belongs to user 12345"] = func(_ *fixture, path string) error { return os.Chown(path, 12345, -1) }
	}
	for want, do := range damage {
		t.Run(want, func(t *testing.T) {
			f := open(t, filepath.Join(t.TempDir(), "c"), 0)
			f.must(f.add(content).Close())
			if !f.has(content) {
				t.Fatal("it is not there")
			}
			path := f.Path(digest.Of([]byte(content)))
			f.must(do(f, path))
			b, err := f.lease(content)
			var refused *Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
				t.Fatalf("%v %v", b, err)
			}
			if len(f.refused) != 1 || f.refused[0] != err.Error() {
				t.Error("reported:", f.refused)
			}
			f.must(f.add(content).Close())
			if !f.has(content) {
				t.Error("it is not replaced")
			}
		})
	}
}

func TestAChangeIsSeenHoweverSoon(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 0)
	f.must(f.add("hello").Close())
	path := f.Path(digest.Of([]byte("hello")))
	f.must(os.Chmod(path, 0o700))
	w, err := os.OpenFile(path, os.O_WRONLY, 0) // by somebody who keeps it open
	f.must(err)
	defer w.Close()
	f.must(os.Chmod(path, 0o500))
	for range 50 {
		if !f.has("hello") {
			t.Fatal("it is refused without a change")
		}
	}
	_, err = w.WriteAt([]byte("H"), 0)
	f.must(err)
	if b, err := f.lease("hello"); err == nil {
		t.Error("a changed blob is leased:", b.Name())
	}
}

func TestCrashLeftoversGo(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 0)
	p, err := f.Create(digest.Of([]byte("hello")), 5)
	f.must(err)
	left := filepath.Join(f.dir, "partial", "left")
	f.must(os.WriteFile(left, []byte("half"), 0o600))
	f.must(os.Symlink("/etc/passwd", filepath.Join(f.dir, "partial", "link")))
	again := open(t, f.dir, 0)
	names, err := again.partial.Names()
	if err != nil || len(names) != 1 || names[0] != p.name {
		t.Errorf("%v: want what is being written, %s, and nothing else: %v", names, p.name, err)
	}
	_, err = p.Write([]byte("hello"))
	f.must(err)
	b, err := p.Publish()
	f.must(err)
	b.Close()
}

func TestEviction(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 30)
	content := func(c string) string { return strings.Repeat(c, 10) }
	age := func(c string, at int64) { // when it was used last
		f.must(f.blobs.SetTimes(digest.Of([]byte(content(c))).String(), time.Unix(at, 0), sealed))
	}
	for i, c := range []string{"a", "b", "c"} {
		f.must(f.add(content(c)).Close())
		age(c, int64(100+i))
	}
	if !f.has(content("a")) { // which makes it the one used last
		t.Fatal("a is not there")
	}
	f.must(f.add(content("d")).Close())
	if f.has(content("b")) || !f.has(content("a")) || !f.has(content("c")) || !f.has(content("d")) {
		t.Error("the one used longest ago should have gone")
	}
	for i, c := range []string{"a", "c", "d"} {
		age(c, int64(100+i))
	}
	a, err := f.lease(content("a"))
	f.must(err)
	defer a.Close()
	age("a", 1)
	f.must(f.add(content("e") + "12345").Close())
	if f.has(content("c")) || f.has(content("d")) || !f.has(content("a")) {
		t.Error("the two used longest ago should have gone, not the one in use")
	}
	var full *Full
	if _, err := f.Create(digest.Sum{1}, 21); !errors.As(err, &full) || full.InUse != 10 {
		t.Error(err)
	}
	p, err := f.Create(digest.Sum{1}, 15)
	f.must(err)
	if _, err := f.Create(digest.Sum{2}, 6); !errors.As(err, &full) || full.InUse != 25 {
		t.Error("what is being written does not count:", err)
	}
	f.must(p.Discard())
}

// A lease that a child process has inherited counts, when its parent has none.
func TestAnInheritedLeaseHoldsABlob(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "c"), 10)
	b := f.add("0123456789")
	in, out, err := os.Pipe()
	f.must(err)
	defer out.Close()
	p, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{in, os.Stderr, os.Stderr, b.File}})
	f.must(err)
	in.Close()
	b.Close()
	var full *Full
	if _, err := f.Create(digest.Sum{1}, 1); !errors.As(err, &full) {
		t.Error("a blob in use was evicted:", err)
	}
	out.Close()
	_, err = p.Wait()
	f.must(err)
	if p, err := f.Create(digest.Sum{1}, 1); err != nil {
		t.Error(err)
	} else {
		f.must(p.Discard())
	}
}

func TestNoDescriptorIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	open(t, dir, 0).Close()
	before := count()
	f := open(t, dir, 10)
	f.must(f.add("hello").Close())
	for i := range 5 {
		p, err := f.Create(digest.Of(fmt.Append(nil, i)), 10)
		f.must(err)
		f.has("hello")
		f.must(p.Discard())
		f.lease("none")
		f.Create(digest.Sum{1}, 11)
	}
	f.Close()
	if after := count(); after != before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func BenchmarkLease(b *testing.B) {
	c, err := Open(filepath.Join(b.TempDir(), "c"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	content := bytes.Repeat([]byte("x"), 20<<20)
	sum := digest.Of(content)
	p, err := c.Create(sum, int64(len(content)))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.Write(content); err != nil {
		b.Fatal(err)
	}
	blob, err := p.Publish()
	if err != nil {
		b.Fatal(err)
	}
	blob.Close()
	for _, known := range []bool{true, false} {
		b.Run(fmt.Sprintf("known=%v", known), func(b *testing.B) {
			for b.Loop() {
				if !known {
					clear(c.stamps)
				}
				blob, err := c.Lease(sum)
				if err != nil {
					b.Fatal(err)
				}
				blob.Close()
			}
		})
	}
}
