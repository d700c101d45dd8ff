package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/proc"
)

// maxComplaint bounds what is kept of the go command's output.
const maxComplaint = 64 << 10

// build builds a Go package below the scratch directory and tells the front.
func (s *supervisor) build(m *control.Build, number int) {
	path, err := s.buildIn(m, filepath.Join(m.Scratch, fmt.Sprint("bin", number)))
	built := &control.Built{Dir: m.Dir, Path: path}
	if err != nil {
		built.Output = err.Error()
	}
	s.front.Send(built)
}

func (s *supervisor) buildIn(m *control.Build, bin string) (string, error) {
	temp := filepath.Join(m.Scratch, "tmp")
	if err := s.makeScratch(m.Scratch, temp, bin); err != nil {
		return "", err
	}
	compiler, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("building %s needs the go command: %w", m.Dir, err)
	}
	complaint, err := s.run(proc.Command{
		Path: compiler, Args: []string{"go", "build", "-o", bin + "/", "."}, Dir: m.Dir,
		Env:           append(m.Env[:len(m.Env):len(m.Env)], "GOTMPDIR="+temp, "TMPDIR="+temp, "PWD="+m.Dir),
		DieWithParent: true,
	})
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(bin)
	if err != nil || len(entries) != 1 {
		return "", errors.New(complaint)
	}
	return filepath.Join(bin, entries[0].Name()), nil
}

// makeScratch makes the scratch directory, which must not exist (its name is known
// to nobody else), and directories in it.
func (s *supervisor) makeScratch(scratch string, dirs ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cleared {
		return proc.ErrEnding
	}
	if s.scratch == "" {
		if err := os.Mkdir(scratch, 0o700); err != nil {
			return err
		}
		s.scratch = scratch
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command to its end and returns what it printed. An error says that
// it could not be started.
func (s *supervisor) run(cmd proc.Command) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd.Files = []*os.File{nil, w, w}
	ended := make(chan proc.Exit, 1)
	_, err = s.children.Start(cmd, func(e proc.Exit) { ended <- e })
	w.Close()
	if err != nil {
		return "", fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxComplaint))
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	if e := <-ended; e.Signal != 0 {
		return "", fmt.Errorf("%s was killed: %v", cmd.Path, e.Signal)
	}
	return string(text), err
}
