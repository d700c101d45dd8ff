package main

import (
	"context"
	"regexp"
	"runtime"
	"strings"

	"github.com/golaunch/golaunch/apps/internal/bench/machine"
	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// describe says where and how m measures. Versions are asked of the programs
// themselves.
func describe(ctx context.Context, m *measuring, dir string) (report.Setup, error) {
	s := report.Setup{
		CPU: machine.CPU(), Cores: m.cores, Kernel: machine.Kernel(), Go: runtime.Version(),
		Versions: map[string]string{}, Rounds: m.o.rounds, Batches: m.o.batches, Divide: m.o.divide,
	}
	for _, c := range m.all {
		argv := []string{c.launcher, "--version"}
		if c.name != report.Golaunch {
			argv[0] = c.programs[idle]
		}
		output, _, err := execute(ctx, quickLimit, argv)
		if err != nil {
			return s, err
		}
		s.Versions[c.name] = versionName(string(output))
	}
	return s, nil
}

var (
	openMPIVersion = regexp.MustCompile(`Open MPI v([0-9][^\s,]*)`)
	mpichVersion   = regexp.MustCompile(`MPICH Version:\s*(\S+)`)
	mpichDevice    = regexp.MustCompile(`MPICH Device:\s*(\S+)`)
)

// versionName makes a short name of what a contender says of itself.
func versionName(text string) string {
	if m := openMPIVersion.FindStringSubmatch(text); m != nil {
		return "Open MPI " + m[1]
	}
	if m := mpichVersion.FindStringSubmatch(text); m != nil {
		name := "MPICH " + m[1]
		if device := mpichDevice.FindStringSubmatch(text); device != nil {
			name += " (" + device[1] + ")"
		}
		return name
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name, _, _ := strings.Cut(first, " (")
	return name
}
