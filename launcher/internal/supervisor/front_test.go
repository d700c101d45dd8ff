package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/internal/control"
	"golang.org/x/sys/unix"
)

const deadline = 20 * time.Second

// This binary is the test, the supervisor, and the ranks.
const envRole = "SUPERVISOR_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(envRole)
	switch {
	case role == "":
		os.Exit(m.Run())
	case role == "supervisor":
		os.Setenv(envRole, "")
		os.Exit(Run(os.NewFile(3, "front")))
	}
	if err := roles[role](); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A front is the test's end of a supervisor's stream.
type front struct {
	t    *testing.T
	conn *control.Conn
	cmd  *exec.Cmd
	in   chan control.Message // closed when the stream ends
	seen []control.Message    // taken out of in, and not asked for yet
	text map[outputID]string  // output so far
	hold bool                 // give no credit
	done chan error           // the supervisor's exit
}

func newFront(t *testing.T) *front {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "supervisor")
	unix.SetNonblock(fds[0], true)
	ours := os.NewFile(uintptr(fds[0]), "front")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), envRole+"=supervisor", "GORACE=atexit_sleep_ms=0")
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{theirs}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	f := &front{t: t, conn: control.NewConn(ours), cmd: cmd, in: make(chan control.Message, 1000),
		text: map[outputID]string{}, done: make(chan error, 1)}
	go f.read()
	go func() { f.done <- cmd.Wait() }()
	t.Cleanup(f.close)
	if hello := expect[*control.Hello](f); hello.Protocol != control.Protocol || hello.Version != boot.Version || hello.PID != cmd.Process.Pid {
		t.Fatalf("hello %+v", hello)
	}
	return f
}

func (f *front) read() {
	defer close(f.in)
	for {
		m, err := f.conn.Receive()
		if err != nil {
			return
		}
		f.in <- m
	}
}

// close ends the supervisor, and waits for that.
func (f *front) close() {
	f.conn.Close()
	f.exit()
}

func (f *front) exit() error {
	select {
	case err := <-f.done:
		f.done <- err
		return err
	case <-time.After(deadline):
		f.t.Error("the supervisor does not end")
		f.cmd.Process.Kill()
		return nil
	}
}

// take waits for the next message and keeps output apart.
func (f *front) take() control.Message {
	f.t.Helper()
	select {
	case m, ok := <-f.in:
		if !ok {
			f.t.Fatalf("the stream ended; seen: %v", show(f.seen))
		}
		if o, ok := m.(*control.Output); ok {
			f.text[outputID{o.Rank, o.Stream}] += string(o.Data)
			if !f.hold {
				f.conn.Send(&control.Credit{Rank: o.Rank, Stream: o.Stream, Bytes: len(o.Data)})
			}
		}
		return m
	case <-time.After(deadline):
		f.t.Fatalf("nothing more came after %v", show(f.seen))
		return nil
	}
}

func show(list []control.Message) (text []string) {
	for _, m := range list {
		text = append(text, fmt.Sprintf("%T%+v", m, m))
	}
	return text
}

// expect waits for the next message of a type, wherever others stand.
func expect[M control.Message](f *front) M {
	f.t.Helper()
	for i, m := range f.seen {
		if m, ok := m.(M); ok {
			f.seen = append(f.seen[:i:i], f.seen[i+1:]...)
			return m
		}
	}
	for {
		m := f.take()
		if m, ok := m.(M); ok {
			return m
		}
		f.seen = append(f.seen, m)
	}
}

// output waits until an output contains text.
func (f *front) output(rank, stream int, text string) {
	f.t.Helper()
	for !strings.Contains(f.text[outputID{rank, stream}], text) {
		if m := f.take(); reflect.TypeOf(m) != reflect.TypeFor[*control.Output]() {
			f.seen = append(f.seen, m)
		}
	}
}

// start starts a job of shell scripts, one a rank.
func (f *front) start(stdin int, scripts ...string) {
	m := &control.Start{Job: "test", Size: len(scripts), Stdin: stdin}
	for i, script := range scripts {
		m.Programs = append(m.Programs, control.Program{First: i, Count: 1, Path: "/bin/sh",
			Args: []string{"sh", "-c", script}, Env: os.Environ()})
	}
	f.conn.Send(m)
}

// finish waits for the ranks' ends and then for the supervisor's.
func (f *front) finish(ranks int) []control.Exited {
	f.t.Helper()
	exits := make([]control.Exited, ranks)
	for range ranks {
		e := expect[*control.Exited](f)
		exits[e.Rank] = *e
	}
	f.conn.Send(&control.Finish{Linger: int64(time.Second)})
	for range 2 * ranks {
		expect[*control.Closed](f)
	}
	expect[*control.Done](f)
	if err := f.exit(); err != nil {
		f.t.Errorf("the supervisor: %v", err)
	}
	return exits
}

// rankProgram is a script that runs this binary as a rank of some role.
func rankProgram(role string) string {
	return envRole + "=" + role + " exec /proc/" + fmt.Sprint(os.Getpid()) + "/exe"
}
