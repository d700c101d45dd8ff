package helper

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/runtime/job"
)

// A copy of this binary that is started as a helper does not get here.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 20 * time.Second

// twoHosts is a job of ranks 0 and 1 here and rank 2 elsewhere.
func twoHosts(t *testing.T) Job {
	return Job{Hosts: []int{0, 0, 1}, Names: []string{"a", "b"}, Cores: 2, Sharers: 2, Details: boot.Details{
		Job: "j", Secret: []byte("a secret of " + t.Name() + strconv.Itoa(os.Getpid())),
		Hosts: []boot.Hosts{{Name: "a", Count: 1}, {Name: "b", Count: 1}},
	}}
}

func start(t *testing.T, j Job) *Keep {
	t.Helper()
	k, err := Start(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	pid := child(t)
	t.Cleanup(func() { k.Release(); ended(t, pid) })
	return k
}

// child is the process that this one has started last.
func child(t *testing.T) int {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil {
				newest = max(newest, pid)
			}
		}
	}
	if newest == 0 {
		t.Fatal("there is no child")
	}
	return newest
}

// ended waits for a helper's end, which must be a good one.
func ended(t *testing.T, pid int) {
	t.Helper()
	done := make(chan unix.WaitStatus, 1)
	go func() {
		var status unix.WaitStatus
		for {
			if _, err := unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
				break
			}
		}
		done <- status
	}()
	select {
	case status := <-done:
		if !status.Exited() || status.ExitStatus() != 0 {
			t.Errorf("the helper ended with %#x", status)
		}
	case <-time.After(deadline):
		t.Errorf("the helper has not ended after %v", deadline)
		unix.Kill(pid, unix.SIGKILL)
		<-done
	}
}

// join joins as a rank, and maps the job's memory.
func join(t *testing.T, j Job, rank int) (*boot.Session, *job.Memory) {
	t.Helper()
	s, err := Dial(t.Context(), j.Details.Secret, j.Host, rank)
	if err != nil {
		t.Fatal(err)
	}
	m, err := job.Map(s.JobMemory())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); m.Close() })
	return s, m
}

func state(t *testing.T, m *job.Memory, rank int, want job.State) {
	t.Helper()
	for begin := time.Now(); ; {
		ticket := m.Drowse(0)
		got, _ := m.State(rank)
		if got == want {
			m.Wake(0)
			return
		}
		if time.Since(begin) > deadline {
			t.Fatalf("rank %d is %v, want %v", rank, got, want)
		}
		m.Sleep(0, ticket)
		m.Wake(0)
	}
}

func TestRanksOfAHost(t *testing.T) {
	j := twoHosts(t)
	k := start(t, j)
	zero, memory := join(t, j, 0)
	one, _ := join(t, j, 1)
	if err := k.Release(); err != nil {
		t.Fatal(err)
	}
	if one.Rank() != 1 || one.Size() != 3 || one.Host() != "a" || one.Job() != "j" || len(one.HostNames()) != 2 || memory.Host() != 0 || memory.HostOf(2) != 1 || memory.Sharers() != 2 {
		t.Errorf("rank %d of %d on %s, job %s, hosts %v", one.Rank(), one.Size(), one.Host(), one.Job(), one.HostNames())
	}
	for rank, want := range []job.State{job.Joined, job.Joined, job.Starting} {
		state(t, memory, rank, want)
	}
	if err := errors.Join(zero.SetAddress([]byte("zero")), zero.SetAddressOf(2, []byte("two"))); err != nil {
		t.Error(err)
	}
	if string(memory.Address(0)) != "zero" || string(memory.Address(2)) != "two" {
		t.Errorf("addresses %q and %q", memory.Address(0), memory.Address(2))
	}
	for err, want := range map[error]string{
		one.SetAddressOf(0, []byte("x")): "rank 0 announces itself",
		one.SetAddressOf(2, []byte("x")): "rank 2 has an address",
		one.SetAddressOf(7, []byte("x")): "there is no rank 7",
		zero.SetAddress([]byte("x")):     "rank 0 has an address",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// What the first rank has published is there when it has left, and the helper too.
func TestTheFirstRankLeavesFirst(t *testing.T) {
	j := twoHosts(t)
	k := start(t, j)
	zero, _ := join(t, j, 0)
	one, memory := join(t, j, 1)
	file := temporary(t, "segment")
	if err := errors.Join(k.Release(), zero.Publish(5, file, 7), zero.Leave(), zero.Close()); err != nil {
		t.Fatal(err)
	}
	state(t, memory, 0, job.Left)
	f, err := one.Open(t.Context(), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, 7)
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, []byte("segment")) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := one.Open(t.Context(), 0, 6); err == nil || !strings.Contains(err.Error(), "rank 0 has left the job, and had not published it") {
		t.Error(err)
	}
	if err := one.Leave(); err != nil {
		t.Error(err)
	}
}

func TestWhoEndsWithoutLeaving(t *testing.T) {
	j := twoHosts(t)
	k := start(t, j)
	zero, memory := join(t, j, 0)
	one, _ := join(t, j, 1)
	k.Release()
	waits := make(chan error, 1)
	go func() {
		_, err := zero.Open(context.Background(), 1, 9)
		waits <- err
	}()
	one.Close()
	state(t, memory, 1, job.Exited)
	if err := <-waits; err == nil || !strings.Contains(err.Error(), "rank 1 has ended without leaving the job") {
		t.Error(err)
	}
}

// Ranks that have not joined are waited for when the first has left, and not when it
// has failed: the test's end waits for the helper's.
func TestTheFirstRankIsGoneEarly(t *testing.T) {
	t.Run("left", func(t *testing.T) {
		j := twoHosts(t)
		k := start(t, j)
		zero, memory := join(t, j, 0)
		if err := errors.Join(zero.Leave(), zero.Close(), k.Release()); err != nil {
			t.Fatal(err)
		}
		state(t, memory, 0, job.Left)
		join(t, j, 1)
	})
	t.Run("failed", func(t *testing.T) {
		j := twoHosts(t)
		k := start(t, j)
		zero, _ := join(t, j, 0)
		if err := errors.Join(zero.Close(), k.Release()); err != nil {
			t.Fatal(err)
		}
	})
}

// What the process manager has left open in a rank is not held by the helper.
func TestNothingIsInherited(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), syscall.F_SETFD, 0); errno != 0 {
		t.Fatal(errno)
	}
	j := twoHosts(t)
	start(t, j)
	w.Close()
	r.SetReadDeadline(time.Now().Add(deadline))
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("somebody holds the pipe: %d, %v", n, err)
	}
}

// Signals that are meant for the ranks do not end it.
func TestSignals(t *testing.T) {
	j := twoHosts(t)
	start(t, j)
	pid := child(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	join(t, j, 0)
}

func TestStartRefuses(t *testing.T) {
	for want, spoil := range map[string]func(*Job){
		"the job makes no sense: 0 ranks":     func(j *Job) { j.Hosts = nil },
		"the job makes no sense: host 2 of 2": func(j *Job) { j.Host = 2 },
		"the job makes no sense: no secret":   func(j *Job) { j.Details.Secret = nil },
		"a rank on host -1":                   func(j *Job) { j.Hosts = []int{0, -1, 1} },
		"3 hosts":                             func(j *Job) { j.Hosts = []int{0, 1}; j.Hosts[1] = 2 },
	} {
		j := twoHosts(t)
		spoil(&j)
		k, err := Start(t.Context(), j)
		if err == nil {
			k.Release()
		}
		if err == nil || !strings.Contains(err.Error(), "starting the helper process: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
		unix.Wait4(child(t), nil, 0, nil)
	}
}

// Two helpers of one job and host cannot be.
func TestSecondHelper(t *testing.T) {
	j := twoHosts(t)
	start(t, j)
	if k, err := Start(t.Context(), j); err == nil || !strings.Contains(err.Error(), "address already in use") {
		if k != nil {
			k.Release()
		}
		t.Errorf("%v", err)
	}
	unix.Wait4(child(t), nil, 0, nil)
}

func TestStartObeysItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	k, err := Start(ctx, twoHosts(t))
	if !errors.Is(err, why) {
		t.Errorf("%v, %v", k, err)
	}
	unix.Wait4(child(t), nil, 0, nil)
}

func temporary(t *testing.T, text string) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}
