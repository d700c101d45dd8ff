package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
)

// A Source is a file of this machine that is to be sent. It stays open: what is
// put at its path later makes no difference.
type Source struct {
	File
	Path string

	file  *os.File
	mtime time.Time
}

// OpenSource opens a regular file and reads it once, for its sum. It is called
// name on the hosts. The caller closes it.
func OpenSource(path, name string) (*Source, error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe without a writer is no file to wait for
	if err != nil {
		return nil, err
	}
	s := &Source{Path: path, file: file, File: File{Name: name}}
	if err := s.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *Source) read() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: nothing else can be sent", s.Path)
	}
	if info.Size() > MaxBlob {
		return fmt.Errorf("%s: %d bytes: want %d at most", s.Path, info.Size(), int64(MaxBlob))
	}
	s.mtime, s.Exec = info.ModTime(), info.Mode().Perm()&0o111 != 0
	if s.Sum, s.Size, err = digest.Read(s.file); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return s.Unchanged()
}

// ReadAt reads of the file, in any goroutine.
func (s *Source) ReadAt(p []byte, off int64) (int, error) { return s.file.ReadAt(p, off) }

// Unchanged says whether somebody has written to the file since it was opened.
func (s *Source) Unchanged() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != s.Size || !info.ModTime().Equal(s.mtime) {
		return fmt.Errorf("%s was changed while it was being sent", s.Path)
	}
	return nil
}

// Close closes the file.
func (s *Source) Close() error { return s.file.Close() }

// Sources are what one program of a job needs, opened.
type Sources []*Source

// Open opens a program and the values of its --file flags, SRC or SRC:NAME. The
// caller closes them.
func Open(program string, files []string) (all Sources, err error) {
	defer func() {
		if err != nil {
			all.Close()
			all = nil
		}
	}()
	s, err := OpenSource(program, filepath.Base(program))
	if err != nil {
		return nil, err
	}
	all = append(all, s)
	for _, value := range files {
		path, name, err := SplitFlag(value)
		if err != nil {
			return all, fmt.Errorf("--file %s: %w", value, err)
		}
		s, err := OpenSource(path, name)
		if err != nil {
			return all, fmt.Errorf("--file %s: %w", value, err)
		}
		all = append(all, s)
	}
	return all, all.Manifest().Check()
}

// Manifest says what they are.
func (all Sources) Manifest() Manifest {
	m := Manifest{Program: all[0].File}
	for _, s := range all[1:] {
		m.Files = append(m.Files, s.File)
	}
	return m
}

// Close closes all.
func (all Sources) Close() error {
	var err error
	for _, s := range all {
		err = errors.Join(err, s.Close())
	}
	return err
}
