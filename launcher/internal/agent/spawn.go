package agent

import (
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
	said    string        // its last words, once it has ended
	ended   chan struct{} // closed when it has, and its slots are free
}

// Spawn starts this host's supervisor of a job, if it is asked for, has other agents
// start theirs, and waits until all have joined. The first that cannot ends the wait for
// the others: the launch has failed.
func (a *Agent) Spawn(ctx context.Context, _ api.Caller, q api.SpawnRequest) (api.SpawnAnswer, error) {
	return api.SpawnAnswer{Failures: a.spawn(ctx, q)}, nil
}

func (a *Agent) spawn(ctx context.Context, q api.SpawnRequest) []api.Failure {
	var tasks []task
	for _, n := range q.Nodes {
		tasks = append(tasks, func(ctx context.Context) []api.Failure { return a.spawnNode(ctx, q, n) })
	}
	return together(ctx, tasks...)
}

// A task is something that may fail.
type task func(context.Context) []api.Failure

// together does tasks at once and waits for all. The first failure ends the others'
// context, and counts.
func together(ctx context.Context, tasks ...task) (first []api.Failure) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var once sync.Once
	each(tasks, func(do task) {
		if failures := do(ctx); len(failures) > 0 {
			once.Do(func() { first = failures })
			cancel()
		}
	})
	return first
}

// spawnNode starts a host's supervisor, and those below it.
func (a *Agent) spawnNode(ctx context.Context, q api.SpawnRequest, n api.SpawnNode) []api.Failure {
	if n.Host != a.Name {
		q.Nodes = []api.SpawnNode{n}
		answer, err := a.peer(Member{Name: n.Host, Address: n.Address}).Spawn(ctx, q)
		if err != nil {
			return []api.Failure{{Host: n.Host, Text: err.Error(), Silent: api.KindOf(err) == api.Unreached}}
		}
		return answer.Failures
	}
	s, err := a.start(ctx, q, n)
	if err != nil {
		a.Log.Error("supervisor not started", "job", q.Job, "error", err)
		return []api.Failure{{Host: a.Name, Text: err.Error()}}
	}
	defer s.close()
	joins := func(ctx context.Context) []api.Failure { return a.failed(s.joined(ctx)) }
	if len(n.Children) == 0 {
		return joins(ctx)
	}
	if serves, err := s.serves(ctx); err == nil {
		q.Join, q.Nodes = append([]string{serves}, q.Join...), n.Children
		return together(ctx, joins, func(ctx context.Context) []api.Failure { return a.spawn(ctx, q) })
	}
	return joins(ctx) // it has ended
}

// failed is why this host's supervisor will not join, if err is not nil.
func (a *Agent) failed(err error) []api.Failure {
	if err == nil {
		return nil
	}
	return []api.Failure{{Host: a.Name, Text: err.Error()}}
}

// start starts this host's supervisor of a job, unless nobody waits for that any more.
func (a *Agent) start(ctx context.Context, q api.SpawnRequest, n api.SpawnNode) (*starting, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	size, err := a.begin(q.Job, n.Token)
	if err != nil {
		return nil, err
	}
	defer a.running.Done()
	r := record{Job: q.Job, Token: n.Token, Slots: size, Started: time.Now()}
	j, ready, err := a.supervise(r, q, len(n.Children) > 0)
	if err != nil {
		a.mu.Lock()
		a.slots.End(q.Job)
		delete(a.unwanted, q.Job)
		a.mu.Unlock()
		a.sweep()
		return nil, err
	}
	return newStarting(j, ready), nil
}

var errClosing = errors.New("the agent is ending")

// begin takes the slots of a job that is being started, for which Close waits:
// running.Done says that it is.
func (a *Agent) begin(job, token string) (size int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, errClosing
	}
	if size, err = a.slots.Start(job, token, a.now()); err == nil {
		a.running.Add(1)
	}
	return size, err
}

// supervise starts the process and keeps a record of it. ready is where it says how far
// it has come.
func (a *Agent) supervise(r record, q api.SpawnRequest, serve bool) (j *job, ready *os.File, err error) {
	dir := a.Directories.running()
	forget(dir, r.Job) // an older agent's, of a process that has ended
	file, err := openRecord(dir, r.Job, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() // the process goes on holding the lock
	defer func() {
		if err != nil {
			forget(dir, r.Job)
		}
	}()
	said, err := os.OpenFile(filepath.Join(dir, r.Job+errSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer said.Close()
	dirs, held, err := a.furnish(r.Job, q.Programs)
	defer a.letGo(dirs)
	if err != nil {
		return nil, nil, err
	}
	keyReader, keyWriter, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer keyReader.Close()
	defer keyWriter.Close()
	ready, readyWriter, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer readyWriter.Close()
	cmd := a.command(q, serve, len(held))
	cmd.Stderr, cmd.ExtraFiles = said, append([]*os.File{keyReader, readyWriter, file}, held...)
	if err := cmd.Start(); err != nil {
		ready.Close()
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	j, err = a.register(r, cmd, file)
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		ready.Close()
		return nil, nil, err
	}
	// Not before its record is complete: without the key it ends, should this agent die.
	keyWriter.Write(q.Key)
	return j, ready, nil
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
func (a *Agent) register(r record, cmd *exec.Cmd, file *os.File) (*job, error) {
	r.PID, r.Born = cmd.Process.Pid, born(cmd.Process.Pid)
	process, err := r.openProcess()
	if err == nil {
		err = r.write(file)
	}
	if err != nil {
		return nil, fmt.Errorf("the record of job %s: %w", r.Job, err)
	}
	j := &job{record: r, process: process, child: cmd, ended: make(chan struct{})}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		process.close()
		return nil, errClosing
	}
	if a.unwanted[r.Job] == r.Token {
		process.close()
		return nil, fmt.Errorf("job %s was given up while it was being started", r.Job)
	}
	a.Log.Info("job started", "job", r.Job, "process", r.PID, "slots", r.Slots)
	a.enter(j)
	return j, nil
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
	if j.said = lastWords(filepath.Join(a.Directories.running(), j.Job+errSuffix)); j.said != "" {
		attrs = append(attrs, "said", j.said)
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
