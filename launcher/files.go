package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/stage"
	"github.com/golaunch/golaunch/launcher/internal/stage/manifest"
	"github.com/golaunch/golaunch/launcher/internal/stage/needs"
)

// EnvFiles names the variable with the directory where a rank finds what --file has
// sent.
const EnvFiles = "GOLAUNCH_FILES"

// A cargo is what one program of the job needs on its hosts.
type cargo struct {
	path    string // of the program here
	sources manifest.Sources
	needs   needs.Needs
}

// load opens what the programs need and reads it for its names.
func (f *front) load() error {
	for _, p := range f.programs {
		if f.cargoOf(p.Path) >= 0 {
			continue
		}
		sources, err := manifest.Open(p.Path, f.Files)
		if err != nil {
			return usage("%v", err)
		}
		c := cargo{path: p.Path, sources: sources}
		f.cargoes = append(f.cargoes, c)
		if c.needs, err = needs.Inspect(sources[0], sources[0].Size); err != nil {
			return usage("%s: %v", p.Args[0], err)
		}
		f.cargoes[len(f.cargoes)-1] = c
	}
	return nil
}

// unload closes it.
func (f *front) unload() {
	for _, c := range f.cargoes {
		c.sources.Close()
	}
}

func (f *front) cargoOf(path string) int {
	return slices.IndexFunc(f.cargoes, func(c cargo) bool { return c.path == path })
}

// contents are all blobs that the job needs, each once.
func (f *front) contents() (all []stage.Content) {
	for _, c := range f.cargoes {
		for _, content := range stage.Contents(c.sources) {
			if !slices.ContainsFunc(all, func(o stage.Content) bool { return o.Blob == content.Blob }) {
				all = append(all, content)
			}
		}
	}
	return all
}

func (f *front) blobs() (all []manifest.Blob) {
	for _, c := range f.contents() {
		all = append(all, c.Blob)
	}
	return all
}

func (f *front) manifests() (all []manifest.Manifest) {
	for _, c := range f.cargoes {
		all = append(all, c.sources.Manifest())
	}
	return all
}

// sendFiles brings what the job needs to the hosts that lack it. This host's agent gets it
// first: it passes on to the others.
func (f *front) sendFiles(ctx context.Context) error {
	var hosts []stage.Host
	local := f.Cluster.address() == ""
	for _, b := range f.blocks {
		if !b.Staged {
			hosts = append(hosts, stage.Host{Name: b.Host, Addr: b.Address})
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	if local {
		hosts = slices.DeleteFunc(hosts, func(h stage.Host) bool { return h.Name == f.answer.Agent })
		hosts = slices.Insert(hosts, 0, stage.Host{Name: f.answer.Agent, Addr: f.answer.Address})
	}
	f.verbose("job %s: sending what %s lack", f.id, hostsText(len(hosts)))
	var failed []error
	for i, err := range stage.Push(ctx, f, f.contents(), hosts, stage.Options{Silence: f.failureTimeout()}) {
		if err != nil && f.blockOf(hosts[i].Name) >= 0 {
			failed = append(failed, fmt.Errorf("host %s: %w", hosts[i].Name, err))
		}
	}
	for _, c := range f.cargoes {
		for _, s := range c.sources {
			failed = append(failed, s.Unchanged())
		}
	}
	return errors.Join(failed...)
}

// Dial opens a stream of blobs to a host: through this host's agent, or at once.
func (f *front) Dial(ctx context.Context, to stage.Host) (io.ReadWriteCloser, error) {
	switch {
	case f.Cluster.address() != "":
		return f.agent.Beside("of "+to.Name+" ("+to.Addr+")", to.Addr).Blob(ctx, "")
	case to.Name == f.answer.Agent:
		return f.agent.Blob(ctx, "")
	}
	return f.agent.Blob(ctx, to.Addr)
}

// aboard is a program as a host of the cluster has it.
func (f *front) aboard(h *host, p control.Program) control.Program {
	i := f.cargoOf(p.Path)
	if i < 0 {
		return p
	}
	dir := filepath.Join(f.blocks[h.number].Jobs, api.JobDirectory(f.id, i))
	p.Path = filepath.Join(dir, "program", f.cargoes[i].sources[0].Name)
	p.Env = append(slices.Clone(p.Env), EnvFiles+"="+filepath.Join(dir, "files"))
	return p
}
