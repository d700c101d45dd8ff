package agent

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Directories are where an agent keeps its things.
type Directories struct {
	State   string // what outlives the machine's next start
	Runtime string // the socket
	Cache   string // what can be fetched again
}

// WithDefaults fills in what is empty: from the environment, or with what is usual for
// root, or for others.
func (d Directories) WithDefaults() (Directories, error) {
	usual := Directories{"/var/lib/golaunch", "/run/golaunch", "/var/cache/golaunch"}
	if os.Geteuid() != 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return d, err
		}
		usual.State = filepath.Join(cmp.Or(os.Getenv("XDG_STATE_HOME"), filepath.Join(home, ".local/state")), "golaunch")
		usual.Cache = filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "golaunch")
		usual.Runtime = filepath.Join(usual.State, "run")
		if run := os.Getenv("XDG_RUNTIME_DIR"); run != "" {
			usual.Runtime = filepath.Join(run, "golaunch")
		}
	}
	d.State = cmp.Or(d.State, os.Getenv("GOLAUNCH_STATE"), usual.State)
	d.Runtime = cmp.Or(d.Runtime, os.Getenv("GOLAUNCH_RUNTIME"), usual.Runtime)
	d.Cache = cmp.Or(d.Cache, os.Getenv("GOLAUNCH_CACHE"), usual.Cache)
	return d.absolute()
}

func (d Directories) absolute() (Directories, error) {
	var errs [3]error
	d.State, errs[0] = filepath.Abs(d.State)
	d.Runtime, errs[1] = filepath.Abs(d.Runtime)
	d.Cache, errs[2] = filepath.Abs(d.Cache)
	return d, errors.Join(errs[:]...)
}

// make makes them; nobody else may look into them.
func (d Directories) make() error {
	for _, dir := range []string{d.State, d.Runtime, d.Cache, d.running(), d.Jobs()} {
		if err := makePrivate(dir); err != nil {
			return err
		}
	}
	return nil
}

func (d Directories) running() string { return filepath.Join(d.State, "running") }

// Jobs is where detached jobs have their output.
func (d Directories) Jobs() string { return filepath.Join(d.State, "jobs") }

func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	switch owner := info.Sys().(*syscall.Stat_t).Uid; {
	case !info.IsDir():
		return fmt.Errorf("%s: it is no directory", dir)
	case int(owner) != os.Geteuid():
		return fmt.Errorf("%s: it belongs to user %d", dir, owner)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s: others may look into it (mode %04o): chmod 700 %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

// takeLock makes this process the agent of a runtime directory for as long as the
// file is open.
func takeLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "agent.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("an agent runs already with runtime directory %s (%w)", dir, err)
	}
	return f, nil
}
