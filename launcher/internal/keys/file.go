package keys

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Read reads a key file. Calling it again is how a rotated key becomes known.
func Read(path string) (Ring, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a fifo must not hold us up
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := private(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeys*maxKey+1))
	if err != nil {
		return nil, err
	}
	ring, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ring, nil
}

// private checks that nobody else may read or replace what f holds.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	owner, self := ownerOf(info), os.Geteuid()
	if OthersMayRead(info, self) {
		return fmt.Errorf("others may read it (mode %04o): chmod 600 %s", info.Mode().Perm(), f.Name())
	}
	if owner != self && owner != 0 {
		return fmt.Errorf("it belongs to user %d, who can change it: chown %d %s", owner, self, f.Name())
	}
	return nil
}

// OthersMayRead reports whether a key file is open to others than its owner and self,
// the user who reads it. Of a file of root's, who is not self, its group may read it,
// because that is how self does: Kubernetes mounts a Secret with mode 0440 for the
// group of a pod's processes.
func OthersMayRead(info fs.FileInfo, self int) bool {
	mode := info.Mode().Perm()
	if ownerOf(info) == 0 && self != 0 {
		mode &^= 0o040
	}
	return mode&0o077 != 0
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// Generate writes a new key file, mode 0600. A file that is there is left alone:
// fs.ErrExist.
func Generate(path string) (Key, error) {
	k, err := random()
	if err != nil {
		return Key{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return Key{}, fmt.Errorf("%s is there already: a cluster's key is not overwritten, --rotate adds one: %w", path, fs.ErrExist)
	}
	if err != nil {
		return Key{}, err
	}
	if err := fill(f, Ring{k}.format()); err != nil {
		os.Remove(path)
		return Key{}, err
	}
	return k, syncDir(path)
}

// Rotate puts a new key in front of those that a file holds, and returns them all.
// The file is replaced at once or not at all. If it is full, an error says so: old
// keys are taken out by hand, when every member has a newer one.
func Rotate(path string) (Ring, error) {
	old, err := Read(path)
	if err != nil {
		return nil, err
	}
	if len(old) == maxKeys {
		return nil, fmt.Errorf("%s holds %d keys, and no more fit: take old ones out first", path, maxKeys)
	}
	k, err := random()
	if err != nil {
		return nil, err
	}
	ring := append(Ring{k}, old...)
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	return ring, replace(path, ring.format())
}

func random() (Key, error) {
	secret := make([]byte, newKey)
	rand.Read(secret) // never fails
	return New(secret)
}

// replace writes a file beside path and puts it in its place.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".golaunch-key-") // mode 0600
	if err != nil {
		return err
	}
	if err = fill(f, text); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(path)
}

// fill writes f to the disk and closes it.
func fill(f *os.File, text []byte) error {
	_, err := f.Write(text)
	return errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close())
}

// syncDir makes sure that the name path survives a crash.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
