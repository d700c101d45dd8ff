package launcher

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/agent"
	"github.com/golaunch/golaunch/launcher/internal/api"
)

// DetachedName is what a golaunch is called (its argument 0) that runs a detached job,
// with the arguments of the one that was typed. A program that calls Run must set
// Options.Detached when it finds itself started under this name.
const DetachedName = "golaunch-detached"

// The descriptors of such a golaunch beyond the usual three.
const (
	detachedJob    = 3 // the job's name can be read there
	detachedReady  = 4 // a line is to be written there when the ranks have been started
	detachedOutput = 5 // the output, locked
)

// detach runs the job in a golaunch of its own, in a session of its own, with its output
// in a file that the agent of this host shows (golaunch logs), and returns when the
// ranks have been started, or why not.
func detach(o Options) int {
	if err := o.check(); err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: %v\n", err)
		return exitCode(err)
	}
	if o.Cluster.address() != "" || !o.OverCluster() {
		fmt.Fprintln(os.Stderr, "golaunch: --detach: this host's agent is needed, which shows the output (golaunch logs)")
		return CodeUsage
	}
	id := newJobName()
	path, err := o.makeJobDirectory(id)
	if err == nil {
		err = runDetached(id, path)
	}
	var ended *detachedError
	if errors.As(err, &ended) {
		fmt.Fprintf(os.Stderr, "%s\n", ended.said)
		return ended.code
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "golaunch: --detach: %v\n", explained(err))
		return exitCode(err)
	}
	fmt.Println(id)
	return 0
}

func newJobName() string { return fmt.Sprintf("%08x", rand.Uint32()) }

// makeJobDirectory makes the directory of a job where the agent looks for its output,
// and returns the path of that.
func (o *Options) makeJobDirectory(id string) (path string, err error) {
	client, err := o.Cluster.client()
	if err != nil {
		return "", err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), api.AskWait)
	defer cancel()
	host, err := client.Host(ctx, api.HostRequest{})
	if err != nil {
		return "", err
	}
	dir := filepath.Join(agent.Directories{State: host.State}.Jobs(), id)
	return filepath.Join(dir, agent.OutputName), os.Mkdir(dir, 0o700)
}

// A detachedError is what a detached golaunch has said before it ended.
type detachedError struct {
	said string
	code int
}

func (e *detachedError) Error() string { return e.said }

// runDetached starts the golaunch of a detached job and waits until its ranks run.
func runDetached(id, path string) error {
	output, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	if err := unix.Flock(int(output.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	name, nameWriter, err := os.Pipe()
	if err != nil {
		return err
	}
	defer name.Close()
	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return errors.Join(err, nameWriter.Close())
	}
	defer ready.Close()
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: append([]string{DetachedName}, os.Args[1:]...), Stdout: output, Stderr: output,
		ExtraFiles: []*os.File{name, readyWriter, output}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	readyWriter.Close()
	fmt.Fprintln(nameWriter, id)
	nameWriter.Close()
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() { cmd.Process.Signal(<-signals) }() // until it is detached, it is not
	line, err := bufio.NewReader(ready).ReadString('\n')
	if err == nil && line == "ready\n" {
		return nil
	}
	cmd.Wait()
	said, _ := os.ReadFile(path)
	os.RemoveAll(filepath.Dir(path))
	return &detachedError{strings.TrimSpace(string(said)), cmd.ProcessState.ExitCode()}
}

// enterDetached makes this process the golaunch of a detached job: it says which.
func enterDetached() (id string, ready *os.File, err error) {
	for fd := detachedJob; fd <= detachedOutput; fd++ {
		unix.CloseOnExec(fd)
	}
	f := os.NewFile(detachedJob, "job")
	defer f.Close()
	line, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return "", nil, err
	}
	id = strings.TrimSpace(string(line))
	return id, os.NewFile(detachedReady, "ready"), api.CheckJob(id)
}
