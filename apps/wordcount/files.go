package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// source is a file to count.
type source struct {
	path string
	size int64 // bytes when it was listed; known at rank 0 only
}

// shareList gives every rank the same list of files. Rank 0 makes it, because a
// tree may change while it is walked, and ranks on other hosts may see another
// one: indices into the list mean the same file everywhere only if it is one list.
func shareList(ctx context.Context, comm *world.Comm, roots []string) ([]source, error) {
	var files []source
	var blob []byte
	if comm.Rank() == 0 {
		var err error
		if files, err = list(ctx, roots); err != nil {
			return nil, fmt.Errorf("rank 0: %w", err)
		}
		blob = joinPaths(files)
	}
	length := []int64{int64(len(blob))}
	if err := collectives.Bcast(ctx, comm, 0, length); err != nil {
		return nil, err
	}
	if comm.Rank() != 0 {
		blob = make([]byte, length[0])
	}
	if err := collectives.Bcast(ctx, comm, 0, blob); err != nil {
		return nil, err
	}
	if comm.Rank() != 0 {
		files = splitPaths(blob)
	}
	return files, nil
}

// joinPaths ends each path with a NUL, the one byte no path can hold.
func joinPaths(files []source) []byte {
	var blob []byte
	for _, f := range files {
		blob = append(append(blob, f.path...), 0)
	}
	return blob
}

func splitPaths(blob []byte) []source {
	var files []source
	for path := range strings.SplitSeq(strings.TrimSuffix(string(blob), "\x00"), "\x00") {
		files = append(files, source{path: path})
	}
	return files
}

// list returns the regular .go files below roots, each once, the largest first:
// so that no rank is left alone at the end with a file that takes long.
func list(ctx context.Context, roots []string) ([]source, error) {
	if len(roots) == 0 {
		root, err := goSource(ctx)
		if err != nil {
			return nil, err
		}
		roots = []string{root}
	}
	var files []source
	for _, root := range roots {
		var err error
		if files, err = walk(files, root); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b source) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.path, b.path))
	})
	// Equal paths are neighbours now: roots may overlap.
	files = slices.CompactFunc(files, func(a, b source) bool { return a.path == b.path })
	if len(files) == 0 {
		return nil, fmt.Errorf("no .go files below %s", strings.Join(roots, ", "))
	}
	return files, nil
}

// walk appends the .go files below root, which may itself be a file or a
// symbolic link to either. Links below it are not followed.
func walk(files []source, root string) ([]source, error) {
	start, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	if start, err = filepath.Abs(start); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(start, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files = append(files, source{path, info.Size()})
		return nil
	})
	return files, err
}

// goSource is the source tree of the Go that is installed.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("no DIR given, and go env GOROOT does not say where the Go source tree is: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}
