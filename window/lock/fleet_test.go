package lock

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

// A fleet is the processes of a test; the test is their supervisor.
type fleet struct {
	mem  *job.Memory
	cmds []*exec.Cmd
	outs []strings.Builder
}

func start(t *testing.T, program string, mem *job.Memory, body string, env ...string) *fleet {
	t.Helper()
	f := &fleet{mem: mem, outs: make([]strings.Builder, mem.Size())}
	for m := range mem.Size() {
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", memberVariable, m), bodyVariable+"="+body)
		cmd.Env = append(cmd.Env, env...)
		cmd.ExtraFiles = []*os.File{mem.File()}
		cmd.Stdout, cmd.Stderr = &f.outs[m], &f.outs[m]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		f.cmds = append(f.cmds, cmd)
	}
	return f
}

// wait returns when a member has ended, and lets the others know how.
func (f *fleet) wait(m int) error {
	err := f.cmds[m].Wait()
	state, code := job.Exited, 0
	if err != nil {
		state, code = job.Failed, f.cmds[m].ProcessState.ExitCode()
	}
	f.mem.Report(m, state, int32(code))
	if err != nil {
		return fmt.Errorf("member %d: %w\n%s", m, err, f.outs[m].String())
	}
	return nil
}
