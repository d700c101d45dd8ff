package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lines"
)

// An output is where everything that golaunch prints goes.
type output struct {
	merger  *lines.Merger
	dir     string // of files, "" when the terminal gets the output
	files   map[lines.Stream]*os.File
	devices [2]*writer // for stdout and stderr; one writer if they are the same file
	disk    *writer
	written chan written
	under   int // pieces given to writers and not written yet
}

func newOutput(o *Options) (*output, error) {
	if err := o.makeOutputDir(); err != nil {
		return nil, err
	}
	shared := sameFile(os.Stdout, os.Stderr)
	out := &output{
		merger: lines.New(lines.Config{Tag: o.Tag, Raw: o.size() == 1 && !o.Tag, Shared: shared}),
		dir:    o.OutputDir, files: map[lines.Stream]*os.File{}, written: make(chan written),
	}
	out.devices[0] = newWriter(out.written)
	out.devices[1] = out.devices[0]
	if !shared {
		out.devices[1] = newWriter(out.written)
	}
	if out.dir != "" {
		out.disk = newWriter(out.written)
	}
	return out, nil
}

func streamOf(rank, stream int) lines.Stream {
	return lines.Stream{Rank: rank, Stderr: stream == control.Stderr}
}

// print takes what a rank wrote.
func (out *output) print(name lines.Stream, data []byte, now time.Duration) error {
	if out.dir == "" {
		out.deliver(out.merger.Write(name, data, now))
		return nil
	}
	f, err := out.file(name)
	if err == nil {
		out.under++
		out.disk.put(f, lines.Piece{Stream: name, Data: data, Bytes: len(data)})
	}
	return err
}

// end follows the end of a stream. Its file exists even if nothing was written.
func (out *output) end(name lines.Stream, now time.Duration) error {
	if out.dir == "" {
		out.deliver(out.merger.Close(name, now))
		return nil
	}
	_, err := out.file(name)
	return err
}

func (out *output) file(name lines.Stream) (*os.File, error) {
	if f := out.files[name]; f != nil {
		return f, nil
	}
	suffix := "out"
	if name.Stderr {
		suffix = "err"
	}
	f, err := os.Create(filepath.Join(out.dir, fmt.Sprintf("rank-%d.%s", name.Rank, suffix)))
	if err == nil {
		out.files[name] = f
	}
	return f, err
}

func (out *output) deliver(pieces []lines.Piece) {
	for _, p := range pieces {
		out.under++
		if p.Stderr {
			out.devices[1].put(os.Stderr, p)
		} else {
			out.devices[0].put(os.Stdout, p)
		}
	}
}

// say prints golaunch's own words, on a new line.
func (out *output) say(stderr bool, text string) {
	out.deliver(out.merger.Break(stderr))
	out.deliver([]lines.Piece{{Stream: lines.Stream{Stderr: stderr}, Data: []byte(text)}})
}

// took follows the completion of writes.
func (out *output) took(w written) { out.under -= len(w.pieces) }

// close closes the files; everything must have been written.
func (out *output) close() (err error) {
	for _, f := range out.files {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	return err
}
