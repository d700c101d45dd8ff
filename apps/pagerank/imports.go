package main

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readTree reads the graph of a tree that is laid out as that of Go: a package's import
// path is that of its directory, but for vendored ones. Files for any machine count, tests
// do not. What is imported and not in the tree is left out.
func readTree(ctx context.Context, root string) (*graph, error) {
	if root == "" {
		var err error
		if root, err = goSource(ctx); err != nil {
			return nil, err
		}
	}
	imports, err := readImports(root)
	if err != nil {
		return nil, err
	}
	if len(imports) == 0 {
		return nil, fmt.Errorf("no packages below %s", root)
	}
	return newGraph(imports), nil
}

// readImports is what each package below root imports, as it is written.
func readImports(root string) (map[string][]string, error) {
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == "testdata" || file != root && strings.ContainsAny(name[:1], "._")):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(dir)
		imports[pkg], err = appendImports(imports[pkg], file)
		return err
	})
	return imports, err
}

func appendImports(to []string, file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		to = append(to, name)
	}
	return to, nil
}

// newGraph makes the graph of packages and what they import.
func newGraph(imports map[string][]string) *graph {
	g := &graph{}
	numbers := map[string]int32{}
	for name := range imports {
		g.names = append(g.names, name)
	}
	slices.Sort(g.names)
	for i, name := range g.names {
		numbers[name] = int32(i)
	}
	importers := make([][]int32, len(g.names))
	g.imports = make([]int32, len(g.names))
	for i, name := range g.names {
		for _, imported := range resolve(name, imports[name], numbers) {
			importers[imported] = append(importers[imported], int32(i))
			g.imports[i]++
		}
	}
	g.begin = []int32{0}
	for _, those := range importers {
		g.importers = append(g.importers, those...)
		g.begin = append(g.begin, int32(len(g.importers)))
	}
	return g
}

// resolve is which packages of the tree a package imports, each once: a vendored one is
// found in the nearest folder vendor.
func resolve(name string, imports []string, numbers map[string]int32) []int32 {
	var all []int32
	for _, imported := range imports {
		for dir := name; ; dir = path.Dir(dir) {
			at, found := numbers[path.Join(dir, "vendor", imported)]
			if dir == "." && !found {
				at, found = numbers[imported]
			}
			if found && at != numbers[name] {
				all = append(all, at)
			}
			if found || dir == "." {
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// goSource is the source tree of the Go that is installed.
func goSource(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("no DIR given, and go env GOROOT does not say where the Go source tree is: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "src"), nil
}
