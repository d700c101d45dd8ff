package join

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/golaunch/golaunch/launcher/internal/keys"
)

// The length of a key in bytes.
const (
	minKey = 16
	maxKey = 4096
)

// ReadKeyFile reads a key from a file that nobody but its owner may read, as
// keys.OthersMayRead has it.
func ReadKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && keys.OthersMayRead(info, os.Geteuid()) {
		return nil, fmt.Errorf("%s: others may read it (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	}
	key, err := ReadKey(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ReadKey reads a key to the end. White space at its ends does not belong to it.
func ReadKey(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxKey+1))
	if err != nil {
		return nil, err
	}
	key := bytes.TrimSpace(b)
	switch {
	case len(b) > maxKey:
		return nil, fmt.Errorf("it is longer than %d bytes", maxKey)
	case len(key) < minKey:
		return nil, fmt.Errorf("a key of %d bytes is too short: want %d at least, at random", len(key), minKey)
	}
	return key, nil
}
