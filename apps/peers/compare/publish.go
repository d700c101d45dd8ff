package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

const (
	pageName  = "performance.md"
	chartName = "performance.svg"
	imageName = "performance.png"
	rawName   = "performance.json"
)

// imageScale is the PNG's pixels for one of the SVG's.
const imageScale = "2"

// pageExists refuses a directory without the page before anything is measured.
func pageExists(docs string) error {
	if _, err := os.Stat(filepath.Join(docs, pageName)); err != nil {
		return &usageError{fmt.Sprintf("--docs %s: %v", docs, err)}
	}
	return nil
}

// publish writes the page's measured part, the chart and the raw results.
func publish(ctx context.Context, docs string, run report.Run, progress io.Writer) error {
	path := filepath.Join(docs, pageName)
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := report.Page(string(old), report.Measured(run))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var raw bytes.Buffer
	if err := run.Write(&raw); err != nil {
		return err
	}
	chart := filepath.Join(docs, chartName)
	if err := errors.Join(
		os.WriteFile(filepath.Join(docs, rawName), raw.Bytes(), 0o644),
		os.WriteFile(chart, []byte(report.Chart(run)), 0o644),
		os.WriteFile(path, []byte(page), 0o644)); err != nil {
		return err
	}
	fmt.Fprintf(progress, "wrote %s, %s and %s in %s\n", pageName, chartName, rawName, docs)
	return writeImage(ctx, chart, filepath.Join(docs, imageName), progress)
}

// writeImage renders the chart with rsvg-convert. Without it there is no PNG: an
// old one would show other figures than the page, so it is removed.
func writeImage(ctx context.Context, chart, image string, progress io.Writer) error {
	if _, err := exec.LookPath("rsvg-convert"); err != nil {
		fmt.Fprintf(progress, "no %s: rsvg-convert is not installed (apt-get install librsvg2-bin)\n", imageName)
		if err := os.Remove(image); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return quietly(ctx, "", nil, "rsvg-convert", "--zoom", imageScale, "--output", image, chart)
}
