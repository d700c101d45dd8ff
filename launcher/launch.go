package launcher

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// greeted follows a supervisor's first message.
func (f *front) greeted(h *host, m *control.Hello) {
	h.greeted = true
	if m.Protocol != control.Protocol || m.Version != boot.Version {
		f.handle(lifecycle.Trouble{Code: 1, Text: otherVersion(h.name, m)})
		return
	}
	f.verbose("job %s: %d ranks on %s, supervised by process %d", f.id, h.ranks, h.name, m.PID)
	for _, h := range f.hosts {
		if !h.greeted {
			return
		}
	}
	switch {
	case !f.job.MayLaunch(): // a signal has come before
	case len(f.builds) == 0:
		f.launch()
	default:
		f.build()
	}
}

func otherVersion(host string, m *control.Hello) string {
	return fmt.Sprintf("the supervisor on %s is version %s of golaunch (protocol %d) and this is version %s (protocol %d)",
		host, m.Version, m.Protocol, boot.Version, control.Protocol)
}

// build has the first supervisor build the programs that are Go packages.
func (f *front) build() {
	for dir := range f.builds {
		f.verbose("building %s", dir)
		f.hosts[0].conn.Send(&control.Build{Scratch: f.scratch, Dir: dir, Env: os.Environ()})
	}
	if isTerminal(os.Stderr) && !f.Verbose {
		time.AfterFunc(time.Second, func() { f.later <- f.stillBuilding })
	}
}

// stillBuilding tells whoever looks on what takes so long.
func (f *front) stillBuilding() {
	if dir := f.unbuilt(); dir != "" {
		f.say("building %s ...", dir)
	}
}

// built takes note of a binary, or of why there is none.
func (f *front) built(m *control.Built) {
	if m.Path == "" {
		f.handle(lifecycle.Trouble{Code: 1, Text: fmt.Sprintf("%s does not build:\n%s", m.Dir, m.Output)})
		return
	}
	f.builds[m.Dir] = m.Path
	if f.unbuilt() == "" && f.job.MayLaunch() {
		f.launch()
	}
}

// unbuilt returns a package that is not built yet, "" if there is none.
func (f *front) unbuilt() string {
	for dir, path := range f.builds {
		if path == "" {
			return dir
		}
	}
	return ""
}

// launch has the supervisors start the ranks.
func (f *front) launch() {
	f.useBuilds()
	var hosts []control.Host
	for _, h := range f.hosts {
		hosts = append(hosts, control.Host{Name: h.name, Ranks: h.ranks})
	}
	stdin := f.stdinReader()
	f.handle(lifecycle.Launched{})
	f.send(&control.Hosts{Hosts: hosts})
	for _, h := range f.hosts {
		if h.over {
			continue
		}
		m := &control.Start{
			Job: f.id, Size: len(f.ranks), Stdin: stdin, Bind: f.BindToCore, Core: h.first, Sharers: len(f.ranks), Secret: f.secret,
			Programs: f.programsOf(h), Host: h.number, Apart: f.apart(), Settings: f.settings(),
		}
		if f.overNetwork() {
			m.Core, m.Sharers = 0, h.ranks
		}
		h.conn.Send(m)
	}
	if f.ready != nil {
		fmt.Fprintln(f.ready, "ready")
		f.ready.Close()
	}
}

// apart: every rank counts as a host of its own, so that all go the way that was asked
// for.
func (f *front) apart() bool { return f.Transport == "tcp" || f.Transport == "verbs" }

// useBuilds has the ranks run what was built.
func (f *front) useBuilds() {
	for i := range f.programs {
		if path := f.builds[f.programs[i].Path]; path != "" {
			f.programs[i].Path = path
		}
	}
}

func (f *front) settings() control.Settings {
	return control.Settings{
		Transport: cmp.Or(f.Transport, "auto"), Interface: f.Interface, Loopback: f.Interface == "" && !f.overNetwork(),
		Encrypt: f.Encrypt, Stats: f.Stats, Timeout: int64(f.failureTimeout()),
	}
}
