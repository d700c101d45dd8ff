package helper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// name is what a helper is called, by ps and by itself; envHelper is set in it.
const (
	name      = "golaunch-helper"
	envHelper = "GOLAUNCH_HELPER"
)

// startWait bounds how long a helper may take until it listens.
const startWait = 30 * time.Second

// A Keep is what ties a helper to the process that has started it: should that end
// before the other ranks have joined, nobody else would end the helper.
type Keep struct{ life *os.File }

// Start starts a helper. It returns when ranks can Dial it.
//
// The helper is this process's child and not waited for: it outlives this process
// if other ranks do, and is a zombie for a moment if they do not.
func Start(ctx context.Context, j Job) (*Keep, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	life, said, err := spawn()
	if err != nil {
		return nil, fmt.Errorf("starting the helper process: %w", err)
	}
	defer said.Close()
	if err := meet(ctx, life, said, text); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the helper process: %w", err), life.Close())
	}
	return &Keep{life}, nil
}

// Release cuts the tie, as the end of the process does. A helper that ranks are
// connected to goes on.
// Nil has no tie.
func (k *Keep) Release() error {
	if k == nil {
		return nil
	}
	return k.life.Close()
}

// spawn starts this program again. life is the pipe that the helper reads, and said
// the one that it writes.
func spawn() (life, said *os.File, err error) {
	in, life, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	said, out, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, life.Close())
	}
	defer out.Close()
	process, err := os.StartProcess("/proc/self/exe", []string{name}, &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), envHelper+"=1"),
		Files: []*os.File{in, out, os.Stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err == nil {
		err = process.Release()
	}
	if err != nil {
		return nil, nil, errors.Join(err, life.Close(), said.Close())
	}
	return life, said, nil
}

// meet gives the helper its job and waits until it says that it listens.
func meet(ctx context.Context, life, said *os.File, job []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, fmt.Errorf("it does not listen after %v", startWait))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { life.SetDeadline(time.Unix(1, 0)); said.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := life.Write(job)
	line := ""
	if err == nil {
		line, err = bufio.NewReader(io.LimitReader(said, 4096)).ReadString('\n')
	}
	line = strings.TrimSuffix(line, "\n")
	switch {
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.EPIPE):
		return errors.New("it ended before it listened")
	case err != nil:
		return err
	case line != listening:
		return errors.New(line)
	}
	return nil
}
