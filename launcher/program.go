package launcher

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
)

// resolve turns segments into what a supervisor can run. Programs that must be
// built first have a directory as their path; builds lists those. Every program
// gets env and extra.
func resolve(segments []Segment, env, extra []string) (programs []control.Program, builds []string, err error) {
	first := 0
	for _, s := range segments {
		p := control.Program{First: first, Count: s.Ranks, Args: append([]string{s.Program}, s.Args...)}
		first += s.Ranks
		var isPackage bool
		if p.Path, isPackage, err = find(s.Program); err != nil {
			return nil, nil, err
		}
		if isPackage {
			builds = append(builds, p.Path)
		}
		if p.Dir, err = directory(s.Dir); err != nil {
			return nil, nil, err
		}
		if p.Env, err = environment(env, s, p.Dir); err != nil {
			return nil, nil, err
		}
		p.Env = append(p.Env, extra...)
		programs = append(programs, p)
	}
	return programs, builds, nil
}

// find returns the absolute path of a program, or of a Go package's directory.
func find(name string) (path string, isPackage bool, err error) {
	if !strings.Contains(name, "/") && name != "." && name != ".." {
		path, err := inPath(name)
		return path, false, err
	}
	path, err = filepath.Abs(name)
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false, usage("%s: %v", name, cause(err))
	case info.IsDir():
		return path, true, holdsGo(name, path)
	}
	return path, false, executable(name, path)
}

// executable says why a file cannot be run, if it cannot.
func executable(name, path string) error {
	switch {
	case strings.HasSuffix(path, ".go"):
		return usage("%s is a Go source file: name its directory, and golaunch builds it", name)
	case unix.Access(path, unix.X_OK) != nil:
		return usage("%s: it is not executable", name)
	}
	return nil
}

// inPath searches the directories of PATH, like execvp.
func inPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return filepath.Abs(path)
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", usage("%s: it is in PATH and not executable", name)
	}
	if _, statErr := os.Stat(name); statErr == nil {
		return "", usage("%s: not found in PATH; did you mean ./%s?", name, name)
	}
	return "", usage("%s: not found in PATH", name)
}

// holdsGo checks that a directory has a Go file.
func holdsGo(name, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err == nil && len(files) > 0 {
		return nil
	}
	return usage("%s is a directory without Go files: a program is a binary or the directory of a Go package", name)
}

// directory returns a segment's working directory.
func directory(dir string) (string, error) {
	if dir == "" {
		return os.Getwd()
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", usage("--wdir %s: %v", dir, cause(err))
	}
	if !info.IsDir() {
		return "", usage("--wdir %s: it is not a directory", dir)
	}
	return filepath.Abs(dir)
}

// environment is golaunch's own, without what it may have as a rank itself, and
// with the segment's additions.
func environment(base []string, s Segment, dir string) ([]string, error) {
	values := map[string]string{}
	var order []string
	set := func(name, value string) {
		if _, known := values[name]; !known {
			order = append(order, name)
		}
		values[name] = value
	}
	for _, entry := range base {
		if name, value, _ := strings.Cut(entry, "="); !slices.Contains(ownVariables, name) {
			set(name, value)
		}
	}
	if s.Dir != "" {
		set("PWD", dir)
	}
	for _, entry := range s.Env {
		name, value, given := strings.Cut(entry, "=")
		if _, known := values[name]; !given && !known {
			return nil, usage("-x %s: it is not set in golaunch's environment; -x %s=VALUE sets it", name, name)
		}
		if given {
			set(name, value)
		}
	}
	env := make([]string, 0, len(order))
	for _, name := range order {
		env = append(env, name+"="+values[name])
	}
	return env, nil
}

// ownVariables are those that golaunch gives to ranks.
var ownVariables = []string{boot.EnvSocket, boot.EnvRank, boot.EnvSize, boot.EnvHost, boot.EnvTerminal, EnvFiles}
