package agent

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
)

// OutputName is what the file is called that has a detached job's output, in the job's
// directory below state/jobs. Its golaunch holds its lock.
const OutputName = "output"

// growPause is how often it is looked whether an output that somebody follows has
// grown.
const growPause = 100 * time.Millisecond

// Logs writes the output of a detached job, this agent's or another's.
func (a *Agent) Logs(ctx context.Context, _ api.Caller, q api.LogsRequest, w io.Writer) error {
	f, err := a.output(q.Job)
	if err == nil {
		defer f.Close()
		return copyOutput(ctx, w, f, q.Follow)
	}
	unknown := api.Errorf(api.Unknown, "there is no output of a job %s: only those with --detach have it kept", q.Job)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !q.All {
		return unknown
	}
	q.All = false
	for _, m := range a.others() {
		counted := &counter{w: w}
		if err := a.peer(m).Logs(ctx, q, counted); err == nil || counted.n > 0 {
			return err
		}
	}
	return unknown
}

// output opens the output of a job. Nothing that is there leads out of the directory.
func (a *Agent) output(job string) (*os.File, error) {
	root, err := os.OpenRoot(a.Directories.Jobs())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(filepath.Join(job, OutputName))
}

// copyOutput copies what is there, and then, if follow, what comes, until whoever
// writes it has ended.
func copyOutput(ctx context.Context, w io.Writer, f *os.File, follow bool) error {
	for {
		over := !follow || unlocked(f)
		if _, err := io.Copy(w, f); err != nil || over {
			return err
		}
		select {
		case <-time.After(growPause):
		case <-ctx.Done():
			return nil
		}
	}
}

// unlocked reports whether nobody holds a file's lock.
func unlocked(f *os.File) bool {
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return false
	}
	syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return true
}

// A counter counts what is written.
type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	return n, err
}
