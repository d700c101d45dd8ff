package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

// A tool is a command that a peer needs, and the Debian package that has it.
type tool struct{ peer, command, pkg string }

var tools = []tool{
	{report.OpenMPI, "mpirun.openmpi", "openmpi-bin"},
	{report.OpenMPI, "mpicc.openmpi", "libopenmpi-dev"},
	{report.MPICH, "mpirun.mpich", "mpich"},
	{report.MPICH, "mpicc.mpich", "libmpich-dev"},
}

// missing is an error that says what to install, when a peer's commands are not
// all there.
func missing(peers []string) error {
	var commands, packages []string
	for _, t := range tools {
		if !slices.Contains(peers, t.peer) {
			continue
		}
		if _, err := exec.LookPath(t.command); err != nil {
			commands = append(commands, t.command)
			packages = append(packages, t.pkg)
		}
	}
	if len(commands) == 0 {
		return nil
	}
	return &usageError{fmt.Sprintf("not found: %s. On Debian:\n\n    apt-get install %s\n\nor measure without peers: --peers none",
		strings.Join(commands, ", "), strings.Join(packages, " "))}
}
