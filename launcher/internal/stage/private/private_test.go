package private

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "new", "mine")
	open(t, mine)
	if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(link); err == nil {
		t.Error("a symbolic link is a private directory")
	}
	for _, mode := range []os.FileMode{0o750, 0o701, 0o777} {
		if err := os.Chmod(mine, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(mine); err == nil || !strings.Contains(err.Error(), "chmod 700 "+mine) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can make a directory of another user")
	}
	if err := errors.Join(os.Chmod(mine, 0o700), os.Chown(mine, 12345, -1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(mine); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Error(err)
	}
}

func TestNothingLeadsOutOfADirectory(t *testing.T) {
	dir := t.TempDir()
	d := open(t, filepath.Join(dir, "d"))
	for path, text := range map[string]string{"/outside": "out", "/d/inside": "in"} {
		if err := os.WriteFile(dir+path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"up": "../outside", "absolute": dir + "/outside", "sideways": "inside", "dangling": "nowhere"} {
		if err := os.Symlink(to, d.Path(name)); err != nil {
			t.Fatal(err)
		}
		for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY | unix.O_CREAT} {
			if f, err := d.Open(name, flags, 0o600); !errors.Is(err, unix.ELOOP) {
				t.Errorf("%s is opened: %v %v", name, f, err)
			}
		}
		if _, err := d.Sub(name); err == nil {
			t.Errorf("%s is a directory", name)
		}
	}
	for _, name := range []string{"", "..", "../outside", "/etc/passwd", "a/b"} {
		if f, err := d.Open(name, unix.O_RDONLY, 0); err == nil {
			t.Errorf("%q is opened: %v", name, f)
		}
	}
	if err := unix.Mkfifo(d.Path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := d.Open("pipe", unix.O_RDONLY, 0); err == nil {
		f.Close() // and did not wait for a writer
	}
}

func TestFilesComeAndGo(t *testing.T) {
	d := open(t, t.TempDir()+"/d")
	a, err := d.Sub("a")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f, err := a.Open("x", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := a.Move("x", d, "y"); err != nil {
		t.Fatal(err)
	}
	if names, err := d.Names(); err != nil || len(names) != 2 {
		t.Error(names, err)
	}
	if stat, err := d.Stat("y"); err != nil || stat.Nlink != 1 {
		t.Error(stat, err)
	}
	if err := d.Remove("y"); err != nil {
		t.Error(err)
	}
	if _, err := d.Stat("y"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), d.Path("y")) {
		t.Error(err)
	}
}

func TestLocks(t *testing.T) {
	d := open(t, t.TempDir()+"/d")
	opened := func() *os.File {
		f, err := d.Open("x", unix.O_RDONLY|unix.O_CREAT, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	must := func(lock func(*os.File) (bool, error), f *os.File, want bool) {
		t.Helper()
		if got, err := lock(f); got != want || err != nil {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
	a, b, c := opened(), opened(), opened()
	must(Hold, a, true)
	must(Hold, b, true)
	must(Seize, c, false)
	a.Close()
	must(Seize, c, false)
	b.Close()
	must(Seize, c, true)
	must(Hold, opened(), false)
}
