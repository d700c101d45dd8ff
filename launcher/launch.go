package launcher

import (
	"fmt"
	"os"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// greeted follows the supervisor's first message.
func (f *front) greeted(m *control.Hello) {
	f.host = m.Host
	if m.Protocol != control.Protocol || m.Version != boot.Version {
		f.handle(lifecycle.Trouble{Code: 1, Text: fmt.Sprintf("the supervisor on %s is version %s of golaunch (protocol %d) and this is version %s (protocol %d)",
			m.Host, m.Version, m.Protocol, boot.Version, control.Protocol)})
		return
	}
	f.verbose("job %s: %d ranks on %s, supervised by process %d", f.id, len(f.ranks), f.host, m.PID)
	if len(f.builds) == 0 {
		f.launch()
	} else {
		f.build()
	}
}

// build has the supervisor build the programs that are Go packages.
func (f *front) build() {
	for dir := range f.builds {
		f.verbose("building %s", dir)
		f.conn.Send(&control.Build{Scratch: f.scratch, Dir: dir, Env: os.Environ()})
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
	if f.unbuilt() == "" {
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

// launch has the supervisor start the ranks.
func (f *front) launch() {
	for i := range f.programs {
		if path := f.builds[f.programs[i].Path]; path != "" {
			f.programs[i].Path = path
		}
	}
	f.handle(lifecycle.Launched{})
	f.conn.Send(&control.Start{Job: f.id, Size: len(f.ranks), Stdin: f.stdinReader(), Bind: f.BindToCore, Programs: f.programs,
		Secret: f.secret, Hosts: []control.Host{{Name: f.host, Ranks: len(f.ranks)}},
		Settings: control.Settings{Transport: "auto", Loopback: true, Timeout: int64(10 * time.Second)}})
}
