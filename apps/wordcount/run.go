package main

import (
	"context"
	"io"
	"time"

	"github.com/golaunch/golaunch/runtime/world"
)

// run is the program of one rank. Rank 0 writes the report to out.
func run(ctx context.Context, comm *world.Comm, opt options, out io.Writer, p *progress) error {
	defer p.clear()
	begin := time.Now()
	files, err := shareList(ctx, comm, opt.roots)
	if err != nil {
		return err
	}
	p.start(files)
	c, mine, err := countFiles(ctx, comm, files, p)
	if err != nil {
		return err
	}
	p.clear()
	win, t, err := fillTable(ctx, comm, c.counts)
	if err != nil {
		return err
	}
	// From here to the end of the window, all ranks only read.
	if err := win.LockAll(ctx); err != nil {
		return err
	}
	res, err := summarize(ctx, comm, t, mine, opt.top)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		res.Seconds = time.Since(begin).Seconds()
		if err := report(t, res, files, opt, out); err != nil {
			return err
		}
	}
	if err := win.UnlockAll(); err != nil {
		return err
	}
	return win.Free(ctx)
}

// report is rank 0's: it prints the result, after comparing it with a serial
// count if that is asked for.
func report(t *table, res *result, files []source, opt options, out io.Writer) error {
	var wrong error
	if opt.verify {
		begin := time.Now()
		wrong = verify(t, files)
		agrees := wrong == nil
		res.Verified, res.SerialSeconds = &agrees, time.Since(begin).Seconds()
	}
	write := writeText
	if opt.json {
		write = writeJSON
	}
	if err := write(out, res); err != nil {
		return err
	}
	return wrong
}
