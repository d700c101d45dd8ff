package jobdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

type fixture struct {
	t     *testing.T
	cache *cache.Cache
	*Jobs
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c, err := cache.Open(filepath.Join(t.TempDir(), "cache"), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	j, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return &fixture{t, c, j}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// file puts content into the cache and names it.
func (f *fixture) file(name, content string, executable bool) manifest.File {
	f.t.Helper()
	sum := digest.Of([]byte(content))
	p, err := f.cache.Create(sum, int64(len(content)))
	f.must(err)
	_, err = p.Write([]byte(content))
	f.must(err)
	b, err := p.Publish()
	f.must(err)
	f.must(b.Close())
	return manifest.File{Name: name, Blob: manifest.Blob{Sum: sum, Size: int64(len(content))}, Exec: executable}
}

const script = "#!/bin/sh\necho $0 $(cat $GOLAUNCH_FILES/data/x)\n"

func (f *fixture) manifest() manifest.Manifest {
	return manifest.Manifest{
		Program: f.file("prog", script, true),
		Files:   []manifest.File{f.file("data/x", "hello", false), f.file("run.sh", script, true), f.file("data/deep/y", "", false)},
	}
}

func (f *fixture) jobs() []string {
	names, err := f.dir.Names()
	f.must(err)
	return names
}

func TestAProgramFindsItsFiles(t *testing.T) {
	f := newFixture(t)
	d, err := f.Make("job-1", f.manifest())
	f.must(err)
	defer d.Close()
	cmd := exec.Command(d.Exec())
	cmd.Env = append(os.Environ(), "GOLAUNCH_FILES="+d.Files())
	out, err := cmd.CombinedOutput()
	if want := d.Exec() + " hello\n"; err != nil || string(out) != want || filepath.Base(d.Exec()) != "prog" {
		t.Errorf("%s %v, want %s", out, err, want)
	}
	for name, mode := range map[string]os.FileMode{"data/x": 0o600, "run.sh": 0o700, "data/deep/y": 0o600} {
		if info, err := os.Lstat(filepath.Join(d.Files(), name)); err != nil || info.Mode() != mode {
			t.Error(name, info, err)
		}
	}
	// What a rank writes to its copy is nobody else's.
	f.must(os.WriteFile(filepath.Join(d.Files(), "data/x"), []byte("other"), 0))
	again, err := f.Make("job-2", f.manifest())
	f.must(err)
	defer again.Close()
	if b, err := os.ReadFile(filepath.Join(again.Files(), "data/x")); err != nil || string(b) != "hello" {
		t.Errorf("%q %v", b, err)
	}
}

func TestWhatIsHeldStays(t *testing.T) {
	f := newFixture(t)
	d, err := f.Make("a", f.manifest())
	f.must(err)
	in, out, err := os.Pipe()
	f.must(err)
	defer out.Close()
	p, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: append([]*os.File{in, os.Stderr, os.Stderr}, d.Held()...)})
	f.must(err)
	in.Close()
	f.must(d.Close())
	f.must(f.Sweep())
	if got := f.jobs(); len(got) != 1 {
		t.Error("a directory in use was removed:", got)
	}
	again, err := Open(f.cache) // as after a restart
	f.must(err)
	again.Close()
	if got := f.jobs(); len(got) != 1 {
		t.Error("a restart has removed a directory in use:", got)
	}
	out.Close()
	_, err = p.Wait()
	f.must(err)
	f.must(os.Symlink("/", f.dir.Path("link")))
	f.must(os.WriteFile(f.dir.Path("file"), nil, 0o600))
	f.must(f.Sweep())
	if got := f.jobs(); len(got) != 0 {
		t.Error("left behind:", got)
	}
}

func TestMakeRefuses(t *testing.T) {
	f := newFixture(t)
	good := f.manifest()
	with := func(change func(*manifest.Manifest)) manifest.Manifest {
		m := good
		m.Files = append([]manifest.File{}, good.Files...)
		change(&m)
		return m
	}
	for want, m := range map[string]manifest.Manifest{
		`component ".."`:       with(func(m *manifest.Manifest) { m.Files[0].Name = "../x" }),
		"is absolute":          with(func(m *manifest.Manifest) { m.Files[0].Name = "/etc/x" }),
		"have one name":        with(func(m *manifest.Manifest) { m.Files[0].Name = "RUN.sh" }),
		"not in the cache":     with(func(m *manifest.Manifest) { m.Files[0].Sum = digest.Of([]byte("none")) }),
		"7 bytes, and has 5":   with(func(m *manifest.Manifest) { m.Files[0].Size = 7 }),
		"more than one compon": with(func(m *manifest.Manifest) { m.Program.Name = "a/b" }),
	} {
		if d, err := f.Make("job", m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v %v, want %s", d, err, want)
		}
		if got := f.jobs(); len(got) != 0 {
			t.Fatal("left behind:", got)
		}
	}
	for _, job := range []string{"", "..", ".", "a/b", "/", "-a", ".a", "a b", "a\x00", strings.Repeat("x", 129)} {
		if _, err := f.Make(job, good); err == nil {
			t.Errorf("job %q is accepted", job)
		}
	}
	d, err := f.Make("job", good)
	f.must(err)
	defer d.Close()
	if _, err := f.Make("job", good); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Error(err)
	}
	bad := with(func(m *manifest.Manifest) { m.Program.Sum = digest.Of([]byte("none")) })
	if _, err := f.Make("other", bad); !errors.Is(err, cache.ErrMissing) {
		t.Error(err)
	}
}
