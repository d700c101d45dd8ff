package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// key looks at the key file.
func (c *Config) key() []Finding {
	const check = "key"
	if c.KeyFile == "" {
		return []Finding{noKey("there is none")}
	}
	ring, err := keys.Read(c.KeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{noKey("there is none at " + c.KeyFile)}
	case err != nil:
		return []Finding{fail(check, "the error says it; golaunch keygen makes a good file", "%v", err)}
	}
	found := []Finding{ok(check, "%s has %s, %v in front", c.KeyFile, count(len(ring), "key"), ring[0])}
	if dir := filepath.Dir(c.KeyFile); othersWrite(dir) {
		found = append(found, fail(check, "chmod go-w "+dir, "others may replace the file: they can write to %s", dir))
	}
	return found
}

func noKey(found string) Finding {
	return warn("key", "golaunch keygen makes one; copy it to every host, mode 0600. --key-file names one elsewhere", "%s: an agent without a key binds loopback only", found)
}

// othersWrite reports whether somebody else can replace the files of a directory.
func othersWrite(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
}

const (
	// maxSocketPath is the longest path of a Unix socket, in bytes, and nameRoom what
	// the socket's name takes of it.
	maxSocketPath = 107
	nameRoom      = 16
	// littleSpace is a cache's free space, in bytes, below which staging may fail.
	littleSpace = 1 << 30
)

// directories looks at those of the agent.
func (c *Config) directories() []Finding {
	found := []Finding{
		directory("state directory", "--state", c.State, true),
		directory("runtime directory", "--runtime", c.Runtime, false),
		directory("cache directory", "--cache", c.Cache, true),
	}
	if n := len(c.Runtime); n > maxSocketPath-nameRoom {
		found = append(found, fail("runtime directory", "--runtime, or $GOLAUNCH_RUNTIME, names a shorter one",
			"its name has %d bytes, and a Unix socket's path only %d", n, maxSocketPath))
	}
	return found
}

// directory looks at one, or at where it would be made. Programs are run from some.
func directory(check, flag, dir string, programs bool) Finding {
	elsewhere := flag + ", or its variable, names another"
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		parent := existing(dir)
		if unix.Access(parent, unix.W_OK|unix.X_OK) != nil {
			return fail(check, elsewhere, "%s is not there and cannot be made in %s", dir, parent)
		}
		return fileSystem(ok(check, "%s will be made", dir), elsewhere, parent, programs)
	}
	if err != nil {
		return fail(check, elsewhere, "%v", err)
	}
	owner, self := int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid()
	switch {
	case !info.IsDir():
		return fail(check, elsewhere, "%s is no directory", dir)
	case owner != self:
		return fail(check, fmt.Sprintf("chown %d %s, or %s", self, dir, elsewhere), "%s belongs to user %d, and this is user %d", dir, owner, self)
	case info.Mode().Perm()&0o077 != 0:
		return fail(check, "chmod 700 "+dir, "others may look into %s (mode %04o)", dir, info.Mode().Perm())
	case unix.Access(dir, unix.W_OK|unix.X_OK) != nil:
		return fail(check, "chmod 700 "+dir, "%s cannot be written", dir)
	}
	return fileSystem(ok(check, "%s", dir), elsewhere, dir, programs)
}

// fileSystem looks at where a good directory is.
func fileSystem(good Finding, elsewhere, dir string, programs bool) Finding {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return fail(good.Check, elsewhere, "%s: %v", dir, err)
	}
	return judge(good, elsewhere, dir, s.Flags, s.Bavail*uint64(s.Bsize), programs)
}

// judge looks at a mount's flags and its free bytes.
func judge(good Finding, elsewhere, dir string, flags int64, free uint64, programs bool) Finding {
	switch {
	case flags&unix.ST_RDONLY != 0:
		return fail(good.Check, elsewhere, "%s is mounted read-only", dir)
	case programs && flags&unix.ST_NOEXEC != 0:
		return fail(good.Check, elsewhere, "%s is mounted noexec: programs that are sent here cannot be run", dir)
	case programs && free < littleSpace:
		return warn(good.Check, "make room, or "+elsewhere, "%s has %d MB left", dir, free>>20)
	}
	return good
}

// existing is the nearest directory above that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
