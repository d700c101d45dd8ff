package agent

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/stage"
	"github.com/golaunch/golaunch/launcher/internal/stage/cache"
	"github.com/golaunch/golaunch/launcher/internal/stage/jobdir"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
)

// openCache opens the cache of programs, and what fills it.
func (a *Agent) openCache() (err error) {
	a.cache, err = cache.Open(a.Directories.Cache, cache.Options{Report: func(r *cache.Refused) {
		a.Log.Warn("refused what lies in the cache", "path", r.Path, "error", r.Why)
	}})
	if err != nil {
		return err
	}
	if a.dirs, err = jobdir.Open(a.cache); err == nil {
		a.node = stage.NewNode(a.Name, a.cache, blobDialer{a.pool}, stage.Options{})
	}
	return err
}

// blobDialer connects this host's node to others'.
type blobDialer struct{ pool *api.Pool }

func (d blobDialer) Dial(ctx context.Context, to stage.Host) (io.ReadWriteCloser, error) {
	return d.pool.Agent("of "+to.Name+" ("+to.Addr+")", to.Addr).Blob(ctx, "")
}

// Blob returns who serves a stream of blobs.
func (a *Agent) Blob(ctx context.Context, who api.Caller, via string) (func(io.ReadWriteCloser), error) {
	if via == "" {
		return func(stream io.ReadWriteCloser) {
			if err := a.node.Serve(a.ctx, stream); err != nil {
				a.Log.Debug("a transfer has ended", "error", err)
			}
		}, nil
	}
	if !who.Local {
		return nil, api.Errorf(api.Denied, "only this host's golaunch is connected with other agents")
	}
	ctx, cancel := context.WithTimeout(ctx, api.AskWait)
	defer cancel()
	there, err := blobDialer{a.pool}.Dial(ctx, stage.Host{Name: via, Addr: via})
	if err != nil {
		return nil, err
	}
	return func(here io.ReadWriteCloser) {
		stop := context.AfterFunc(a.ctx, func() { here.Close(); there.Close() })
		defer stop()
		connect(here, there)
	}, nil
}

// connect copies between two streams until one of them ends, and closes both.
func connect(x, y io.ReadWriteCloser) {
	var copying sync.WaitGroup
	for _, s := range [2][2]io.ReadWriteCloser{{x, y}, {y, x}} {
		copying.Go(func() {
			io.Copy(s[0], s[1])
			x.Close()
			y.Close()
		})
	}
	copying.Wait()
}

// furnish makes the directories of a job's programs. held are to be inherited by who
// runs them; whatever it returns is to be closed.
func (a *Agent) furnish(job string, programs []manifest.Manifest) (dirs []*jobdir.Dir, held []*os.File, err error) {
	for i, m := range programs {
		d, err := a.dirs.Make(api.JobDirectory(job, i), m)
		if err != nil {
			return dirs, nil, err
		}
		dirs, held = append(dirs, d), append(held, d.Held()...)
	}
	return dirs, held, nil
}

// sweep removes what jobs have left that have ended.
func (a *Agent) sweep() {
	if err := a.dirs.Sweep(); err != nil {
		a.Log.Warn("job directories that cannot be removed", "error", err)
	}
}

// hasAll reports whether every blob is in the cache.
func (a *Agent) hasAll(blobs []manifest.Blob) bool {
	for _, b := range blobs {
		if !a.cache.Has(b.Sum, b.Size) {
			return false
		}
	}
	return true
}
