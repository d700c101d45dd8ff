package bootstrapped

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A pod is what the process of the role "pod" makes of itself: a container with
// nothing in it but what is said here.
type pod struct {
	Host        string
	Command     []string
	Env         []string
	User, Group int
	Root        string            // an empty directory, which becomes the root
	Binds       map[string]string // files and directories in it, read-only: where, and which of this machine's
	Files       map[string]string // files in it, and what they hold
	Secret      string            // the directory of the secret "key"
	SecretMode  os.FileMode
	Key         string
}

// envPod has a pod, as JSON.
const envPod = "GOLAUNCH_TEST_POD"

// bePod is the role. The process is in namespaces of its own already, and the first
// in its process namespace.
func bePod() error {
	var p pod
	if err := json.Unmarshal([]byte(os.Getenv(envPod)), &p); err != nil {
		return err
	}
	if err := errors.Join(unix.Sethostname([]byte(p.Host)), p.furnish()); err != nil {
		return err
	}
	if err := errors.Join(unix.Chroot(p.Root), os.Chdir("/")); err != nil {
		return err
	}
	if err := p.drop(); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", p.Command[0], unix.Exec(p.Command[0], p.Command, p.Env))
}

// furnish mounts the root and what is in it. Nothing of that is seen outside.
func (p pod) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("root", p.Root, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("the root: %w", err)
	}
	for _, dir := range []string{"proc", "tmp", "dev"} {
		if err := os.Mkdir(filepath.Join(p.Root, dir), 0o755); err != nil {
			return err
		}
	}
	err := errors.Join(os.Chmod(p.Root+"/tmp", 0o1777), unix.Mount("proc", p.Root+"/proc", "proc", 0, ""))
	for at, from := range p.Binds {
		err = errors.Join(err, p.bind(at, from))
	}
	for at, text := range p.Files {
		err = errors.Join(err, p.write(at, text, 0o644))
	}
	return errors.Join(err, p.bind("/dev/null", "/dev/null"), p.mountSecret())
}

func (p pod) bind(at, from string) error {
	to := filepath.Join(p.Root, at)
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else {
		err = p.write(at, "", 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding %s to %s: %w", from, to, err)
	}
	return nil
}

func (p pod) write(at, text string, mode os.FileMode) error {
	name := filepath.Join(p.Root, at)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), mode)
}

// mountSecret puts the secret where the kubelet does, as it does: root's, readable by
// the pod's group whatever the mode says, and behind symbolic links.
func (p pod) mountSecret() error {
	const version = "..2026_01_02_03_04_05.67890"
	key := filepath.Join(p.Secret, version, "key")
	if err := p.write(key, p.Key, 0o600); err != nil {
		return err
	}
	dir, mode := filepath.Join(p.Root, p.Secret), p.SecretMode
	if p.Group != 0 {
		mode |= 0o440
	}
	return errors.Join(
		os.Symlink(version, dir+"/..data"), os.Symlink("..data/key", dir+"/key"),
		os.Chown(filepath.Join(p.Root, key), 0, p.Group), os.Chmod(filepath.Join(p.Root, key), mode))
}

// drop gives root up.
func (p pod) drop() error {
	return errors.Join(unix.Setgroups([]int{p.Group}), unix.Setresgid(p.Group, p.Group, p.Group), unix.Setresuid(p.User, p.User, p.User))
}
