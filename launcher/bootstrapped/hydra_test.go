package bootstrapped

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

// hydra is Debian's mpiexec.hydra, with ranks on this machine.
func hydra(t *testing.T, n int, flags []string, program ...string) *exec.Cmd {
	t.Helper()
	args := slices.Concat([]string{"-launcher", "fork", "-n", strconv.Itoa(n)}, flags, program)
	return exec.Command(installed(t, "mpiexec.hydra", "mpich"), args...)
}

// hydraPort gives ranks an address instead of a descriptor.
func hydraPort(t *testing.T, n int, flags []string, program ...string) *exec.Cmd {
	t.Helper()
	return hydra(t, n, append([]string{"-pmi-port"}, flags...), program...)
}
