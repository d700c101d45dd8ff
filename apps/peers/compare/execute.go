package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench/machine"
)

const (
	runLimit   = 2 * time.Minute  // one run of one case
	quickLimit = 40 * time.Second // one of a batch or two
	killAfter  = 10 * time.Second // a launcher's time to end its ranks after SIGTERM
)

// A hungError reports a run that did not end in time.
type hungError struct{ limit time.Duration }

func (e *hungError) Error() string { return fmt.Sprintf("it ran longer than %v", e.limit) }

// usage is what runs took of the machine.
type usage struct {
	wall    time.Duration
	foreign time.Duration // what the cores did for others meanwhile, all together
}

func (u *usage) add(v usage) {
	u.wall += v.wall
	u.foreign += v.foreign
}

// others is the share of all cores that others took.
func (u usage) others(cores int) float64 {
	if u.wall <= 0 {
		return 0
	}
	return max(0, u.foreign.Seconds()/(u.wall.Seconds()*float64(cores)))
}

// execute runs a command to its end, or its limit, and returns its standard output. Its standard
// error is part of the error.
func execute(ctx context.Context, limit time.Duration, argv []string) ([]byte, usage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &hungError{limit})
	defer cancel()
	var output, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), &output, &complaints
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	used, err := watch(cmd)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("%w\n%s", err, tail(complaints.Bytes(), 2000))
	}
	return output.Bytes(), used, err
}

// watch runs cmd. What the cores did meanwhile, less what the command and its
// descendants did, they did for others. Where the kernel does not tell, nobody
// else is there.
func watch(cmd *exec.Cmd) (usage, error) {
	before, unknown := machine.Busy()
	started := time.Now()
	err := cmd.Run()
	used := usage{wall: time.Since(started)}
	after, alsoUnknown := machine.Busy()
	if unknown == nil && alsoUnknown == nil && cmd.ProcessState != nil {
		used.foreign = after - before - cmd.ProcessState.UserTime() - cmd.ProcessState.SystemTime()
	}
	return used, err
}

// tail is the last n bytes at most.
func tail(text []byte, n int) []byte {
	text = bytes.TrimSpace(text)
	return text[max(0, len(text)-n):]
}
