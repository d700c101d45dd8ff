package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/api"
	"github.com/golaunch/golaunch/launcher/internal/stage/jobdir"
)

// A job runs here: its supervisor does.
type job struct {
	record
	process *handle
	child   *exec.Cmd     // nil: another agent has started it
	ended   chan struct{} // closed when it has, and its slots are free
}

// readyWait is how long a supervisor may take to say where it serves others.
const readyWait = 5 * time.Second

// Spawn starts this host's supervisor of a job, if it is asked for, and has other
// agents start theirs.
func (a *Agent) Spawn(ctx context.Context, _ api.Caller, q api.SpawnRequest) (api.SpawnAnswer, error) {
	var mu sync.Mutex
	var answer api.SpawnAnswer
	each(q.Nodes, func(n api.SpawnNode) {
		failures := a.spawnNode(ctx, q, n)
		mu.Lock()
		answer.Failures = append(answer.Failures, failures...)
		mu.Unlock()
	})
	return answer, nil
}

// spawnNode starts a host's supervisor, and those below it.
func (a *Agent) spawnNode(ctx context.Context, q api.SpawnRequest, n api.SpawnNode) []api.Failure {
	if n.Host != a.Name {
		q.Nodes = []api.SpawnNode{n}
		answer, err := a.peer(Member{Name: n.Host, Address: n.Address}).Spawn(ctx, q)
		if err != nil {
			return []api.Failure{{Host: n.Host, Text: err.Error()}}
		}
		return answer.Failures
	}
	serves, err := a.start(q, n)
	var failures []api.Failure
	if err != nil {
		a.Log.Error("supervisor not started", "job", q.Job, "error", err)
		failures = append(failures, api.Failure{Host: a.Name, Text: err.Error()})
	}
	if len(n.Children) == 0 {
		return failures
	}
	if serves != "" {
		q.Join = append([]string{serves}, q.Join...)
	}
	q.Nodes = n.Children
	answer, _ := a.Spawn(ctx, api.Caller{}, q)
	return append(failures, answer.Failures...)
}

// start starts this host's supervisor of a job and returns where it serves others, ""
// if it does not.
func (a *Agent) start(q api.SpawnRequest, n api.SpawnNode) (serves string, err error) {
	a.mu.Lock()
	size, err := a.slots.Start(q.Job, n.Token, a.now())
	a.mu.Unlock()
	if err != nil {
		return "", err
	}
	r := record{Job: q.Job, Token: n.Token, Slots: size, Started: time.Now()}
	ready, err := a.supervise(r, q, len(n.Children) > 0)
	if err != nil {
		a.mu.Lock()
		a.slots.End(q.Job)
		a.mu.Unlock()
		a.sweep()
		return "", err
	}
	defer ready.Close()
	if len(n.Children) == 0 {
		return "", nil
	}
	ready.SetReadDeadline(time.Now().Add(readyWait))
	line, _ := bufio.NewReader(ready).ReadString('\n')
	return strings.TrimSpace(line), nil
}

// supervise starts the process and keeps a record of it. ready is where it says that
// it serves others.
func (a *Agent) supervise(r record, q api.SpawnRequest, serve bool) (ready *os.File, err error) {
	dir := a.Directories.running()
	forget(dir, r.Job) // an older agent's, of a process that has ended
	file, err := openRecord(dir, r.Job, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	defer file.Close() // the process goes on holding the lock
	defer func() {
		if err != nil {
			forget(dir, r.Job)
		}
	}()
	said, err := os.OpenFile(filepath.Join(dir, r.Job+errSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer said.Close()
	dirs, held, err := a.furnish(r.Job, q.Programs)
	defer a.letGo(dirs)
	if err != nil {
		return nil, err
	}
	keyReader, keyWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer keyReader.Close()
	defer keyWriter.Close()
	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer readyWriter.Close()
	cmd := a.command(q, serve, len(held))
	cmd.Stderr, cmd.ExtraFiles = said, append([]*os.File{keyReader, readyWriter, file}, held...)
	if err := cmd.Start(); err != nil {
		ready.Close()
		return nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	if err := a.register(&r, cmd, file); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		ready.Close()
		return nil, err
	}
	// Not before its record is complete: without the key it ends, should this agent die.
	keyWriter.Write(q.Key)
	return ready, nil
}

// letGo lets go of directories, which are removed if nobody else holds them.
func (a *Agent) letGo(dirs []*jobdir.Dir) {
	for _, d := range dirs {
		d.Close()
	}
}

// The descriptors of a supervisor's process.
const (
	keyFD = 3 + iota
	readyFD
	lockFD // and behind it those that hold the job's directories
)

// command is the process above a supervisor: it owns it, and clears up after it.
func (a *Agent) command(q api.SpawnRequest, serve bool, held int) *exec.Cmd {
	hold := fmt.Sprint(lockFD)
	for i := range held {
		hold += fmt.Sprint(",", lockFD+1+i)
	}
	args := append(a.Program[1:len(a.Program):len(a.Program)], "supervise", "--join", strings.Join(q.Join, ","), "--host", a.Name,
		"--secret-fd", fmt.Sprint(keyFD), "--ready-fd", fmt.Sprint(readyFD), "--hold-fd", hold, "--wait", q.Wait.String())
	if serve {
		args = append(args, "--serve", net.JoinHostPort(a.ip, "0"))
	}
	cmd := exec.Command(a.Program[0], args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// register notes that a job's process runs.
func (a *Agent) register(r *record, cmd *exec.Cmd, file *os.File) error {
	r.PID, r.Born = cmd.Process.Pid, born(cmd.Process.Pid)
	process, err := r.openProcess()
	if err == nil {
		err = r.write(file)
	}
	if err != nil {
		return fmt.Errorf("the record of job %s: %w", r.Job, err)
	}
	a.Log.Info("job started", "job", r.Job, "process", r.PID, "slots", r.Slots)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enter(&job{record: *r, process: process, child: cmd, ended: make(chan struct{})})
	return nil
}

// enter takes a job in and waits for its end. mu is held.
func (a *Agent) enter(j *job) {
	a.jobs[j.Job] = j
	a.running.Go(func() {
		err := j.process.wait()
		if a.ctx.Err() != nil {
			return
		}
		if err != nil {
			a.Log.Error("the end of a job cannot be waited for", "job", j.Job, "error", err)
		}
		a.leave(j)
	})
}

// leave follows a job's end.
func (a *Agent) leave(j *job) {
	if j.child != nil {
		j.child.Wait()
	}
	attrs := []any{"job", j.Job, "after", time.Since(j.Started).Round(time.Millisecond)}
	if said := lastWords(filepath.Join(a.Directories.running(), j.Job+errSuffix)); said != "" {
		attrs = append(attrs, "said", said)
	}
	forget(a.Directories.running(), j.Job)
	a.sweep()
	a.mu.Lock()
	delete(a.jobs, j.Job)
	a.slots.End(j.Job)
	a.mu.Unlock()
	j.process.close()
	close(j.ended)
	a.Log.Info("job ended", attrs...)
}

// lastWords is the end of a file.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	const most = 4 << 10
	text := make([]byte, most)
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	n, err := f.ReadAt(text, max(info.Size()-most, 0))
	if n == 0 && err != nil && !errors.Is(err, os.ErrClosed) {
		return ""
	}
	return string(bytes.TrimSpace(text[:n]))
}
