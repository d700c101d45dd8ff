package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cSources are the C programs of the peers, by program.
var cSources = [programs]string{"rma", "coll", "launch", "p2p"}

// build puts every contender's programs into dir.
func build(ctx context.Context, dir string, peers []string, progress io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(progress, "building")
	if err := quietly(ctx, root, append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", dir+"/",
		"./launcher/golaunch", "./apps/rmabench", "./apps/allreduce", "./apps/p2pbench", "./apps/peers/joinexit"); err != nil {
		return err
	}
	for _, peer := range peers {
		for _, source := range cSources {
			if err := quietly(ctx, filepath.Join(root, "apps/peers/c"), nil, "mpicc."+peer, "-O2", "-std=gnu11",
				"-o", filepath.Join(dir, peer+"-"+source), source+".c", "bench.c"); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleRoot is the directory of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	path := strings.TrimSpace(string(out))
	if !filepath.IsAbs(path) || filepath.Base(path) != "go.mod" {
		return "", &usageError{"run it inside the module's directory"}
	}
	return filepath.Dir(path), nil
}

// quietly runs a command whose output matters only when it fails.
func quietly(ctx context.Context, dir string, env []string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
