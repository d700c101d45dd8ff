package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/runtime/worldtest"
)

func TestMain(m *testing.M) { os.Exit(worldtest.Main(m).Run()) }

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var files = map[string]string{
	"io/io.go":                "package io\nimport (_ \"errors\"; _ \"sync\")",
	"io/windows.go":           "package io\nimport (_ \"errors\"; _ \"io\"; _ \"C\"; _ \"gone\")",
	"io/io_test.go":           "package io\nimport _ \"cmd/tool\"",
	"errors/errors.go":        "package errors",
	"sync/sync.go":            "package sync\nimport _ \"errors\"",
	"cmd/tool/main.go":        "package main\nimport (_ \"x.org/y\"; _ \"io\")\nthis is not read",
	"cmd/vendor/x.org/y/y.go": "package y",
	"vendor/x.org/y/y.go":     "package y",
	"io/testdata/bad/x.go":    "no Go",
	"io/_old/x.go":            "no Go",
}

func TestReadTree(t *testing.T) {
	g, err := readTree(t.Context(), tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for v, name := range g.names {
		var importers []string
		for _, u := range g.importers[g.begin[v]:g.begin[v+1]] {
			importers = append(importers, g.names[u])
		}
		got[name] = fmt.Sprint(g.imports[v], " ", importers)
	}
	want := map[string]string{
		"io": "2 [cmd/tool]", "errors": "0 [io sync]", "sync": "1 [io]", "cmd/tool": "2 []",
		"cmd/vendor/x.org/y": "0 [cmd/tool]", "vendor/x.org/y": "0 []",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadTreeFails(t *testing.T) {
	for want, root := range map[string]string{
		"no packages below": t.TempDir(),
		"no such file":      filepath.Join(t.TempDir(), "gone"),
		"a.go:1":            tree(t, map[string]string{"a.go": "no Go"}),
	} {
		if _, err := readTree(t.Context(), root); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Ranks are a distribution, and in the end they do not change.
func TestSerialConverges(t *testing.T) {
	g := newGraph(map[string][]string{"a": {"b", "c"}, "b": {"c"}, "c": {"a"}, "d": {"c"}, "e": nil})
	ranks := serial(g, 1, 200)
	sum := 0.0
	for _, r := range ranks {
		sum += r
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the sum is %v", sum)
	}
	for i, r := range serial(g, 1, 201) {
		if math.Abs(r-ranks[i]) > 1e-12 {
			t.Errorf("%s: %v, then %v", g.names[i], ranks[i], r)
		}
	}
	if top := highest(g, ranks, 2); top[0].Package != "c" || top[1].Package != "a" {
		t.Errorf("the highest are %v", top)
	}
}

// Every mode computes what the serial computation does, on one host and on several, also
// where ranks have no packages.
func TestEqualsSerial(t *testing.T) {
	imports := map[string][]string{}
	for i := range 41 {
		imports[fmt.Sprint(i)] = []string{fmt.Sprint(i / 2), fmt.Sprint(i * i % 41), "7"}
	}
	delete(imports, "7")
	wide := map[string]string{}
	for name, those := range imports {
		wide[name+"/x.go"] = "package x\nimport (_ \"" + strings.Join(those, "\"; _ \"") + "\")"
	}
	for _, root := range []string{tree(t, files), tree(t, wide)} {
		for _, hosts := range []struct{ n, each int }{{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1}, {2, 2}, {4, 1}} {
			opt := options{root: root, modes: allModes, iterations: 7, repeat: 1, verify: true, top: 3}
			worldtest.RunHosts(t, hosts.n, hosts.each, func(ctx context.Context, comm *world.Comm) {
				if err := run(ctx, comm, opt, io.Discard); err != nil {
					t.Errorf("rank %d of %d on %d hosts: %v", comm.Rank(), comm.Size(), hosts.n, err)
				}
			})
		}
	}
}

func TestCompareCanFail(t *testing.T) {
	g := newGraph(map[string][]string{"a": {"b"}, "b": nil})
	ranks := serial(g, 1, 3)
	if err := compare(g, ranks, serial(g, 1, 3)); err != nil {
		t.Error(err)
	}
	ranks[1] += 1e-15
	if err := compare(g, ranks, serial(g, 1, 3)); err == nil || !strings.Contains(err.Error(), "package b") {
		t.Errorf("noticed nothing: %v", err)
	}
}

func TestOutput(t *testing.T) {
	opt, err := parseOptions([]string{"--mode=edges,bulk", "--top=2", "--json", tree(t, files)}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(output(t, opt)), "\n")
	if len(lines) != 4 {
		t.Fatalf("lines: %q", lines)
	}
	var r result
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil || r.Seconds <= 0 {
		t.Errorf("%s: %v", lines[0], err)
	}
	r.Seconds = 0
	if diff := cmp.Diff(result{"edges", 6, 5, 20, 2, "shm", 0, 20 * 3}, r); diff != "" {
		t.Error(diff)
	}
	var p place
	if err := json.Unmarshal([]byte(lines[2]), &p); err != nil || p.Package != "errors" {
		t.Errorf("%s: %v", lines[2], err)
	}
	opt.json = false
	if out := output(t, opt); !strings.HasPrefix(out, "6 packages, 5 imports; 2 ranks over shm, 20 iterations\n") || !strings.Contains(out, "  errors\n") {
		t.Errorf("%s", out)
	}
}

// output is what rank 0 of 2 writes.
func output(t *testing.T, opt options) string {
	t.Helper()
	var out strings.Builder
	worldtest.Run(t, 2, func(ctx context.Context, comm *world.Comm) {
		if err := run(ctx, comm, opt, &out); err != nil {
			t.Error(err)
		}
	})
	return out.String()
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct{ args, err string }{
		{"", ""},
		{"src --mode bulk", ""},
		{"src lib", `unexpected argument "lib"`},
		{"--mode magic", `--mode "magic": want edges, bulk, coherent`},
		{"--mode=", "none is given"},
		{"--iterations 0", "--iterations 0"},
		{"--repeat 0", "--repeat 0"},
		{"--top -1", "--top -1"},
	} {
		_, err := parseOptions(strings.Fields(tt.args), io.Discard)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v, want %q", tt.args, err, tt.err)
		}
	}
}
