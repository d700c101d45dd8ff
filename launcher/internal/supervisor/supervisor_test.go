package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/golaunch/golaunch/launcher/internal/control"
)

func TestOrdinaryProgram(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, "echo out; echo err >&2", `echo $GOLAUNCH_RANK of $GOLAUNCH_SIZE on $GOLAUNCH_HOST; exit 5`)
	exits := f.finish(2)
	if exits[0].Code != 0 || exits[1].Code != 5 || exits[0].Wall <= 0 || exits[0].MaxRSS <= 0 {
		t.Errorf("exits %+v", exits)
	}
	host, _ := os.Hostname()
	for id, want := range map[outputID]string{{0, 1}: "out\n", {0, 2}: "err\n", {1, 1}: "1 of 2 on " + host + "\n"} {
		if f.text[id] != want {
			t.Errorf("%+v: %q, want %q", id, f.text[id], want)
		}
	}
}

func TestProgramArgumentsAndDirectory(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.conn.Send(&control.Start{Size: 1, Stdin: control.NoRank, Programs: []control.Program{{Count: 1, Path: "/bin/sh",
		Args: []string{"name", "-c", `echo "$0 $1 $A"; pwd`, "zero", "a b"}, Env: []string{"A=1"}, Dir: "/usr"}}})
	f.finish(1)
	if got := f.text[outputID{0, 1}]; got != "zero a b 1\n/usr\n" {
		t.Errorf("%q", got)
	}
}

// A job cannot tell a rank that it is another one, or where its socket is.
func TestInjectedEnvironment(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.conn.Send(&control.Start{Size: 1, Stdin: control.NoRank, Programs: []control.Program{{Count: 1, Path: "/bin/sh",
		Args: []string{"sh", "-c", `tr '\000' '\n' </proc/$$/environ | grep -E '^(A|GOLAUNCH_(RANK|SIZE|SOCKET))=' | sort`},
		Env:  []string{"GOLAUNCH_RANK=7", "A=1", "GOLAUNCH_SIZE=9", "GOLAUNCH_SOCKET=1", "GOLAUNCH_HOST=elsewhere"}}}})
	f.finish(1)
	if got, want := f.text[outputID{0, 1}], fmt.Sprintf("A=1\nGOLAUNCH_RANK=0\nGOLAUNCH_SIZE=1\nGOLAUNCH_SOCKET=%d\n", socketNumber); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMember(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, rankProgram("member"), "true")
	started, joined := expect[*control.Started](f), expect[*control.Joined](f)
	if joined.Rank != 0 || joined.PID != started.PID {
		t.Errorf("started %+v, joined %+v", started, joined)
	}
	expect[*control.Left](f)
	if e := f.finish(2)[0]; e.Code != 0 {
		t.Errorf("%+v: %s", e, f.text[outputID{0, 2}])
	}
	host, _ := os.Hostname()
	if got, want := f.text[outputID{0, 1}], "rank 0 of 2 on "+host+", memory for 2, I am joined\nnow I have left\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		role   string
		stream int
		want   string
	}{
		{"old", 2, "rank 0 was built with version 0.0.1 of golaunch (protocol 2) and this golaunch is version "},
		{"second", 1, "process PID has joined as rank 0 already, and process "},
		{"rejoin", 1, "rank 0, which process PID had joined, has left the job, and process PID cannot join again"},
	} {
		t.Run(tt.role, func(t *testing.T) {
			t.Parallel()
			f := newFront(t)
			f.start(control.NoRank, rankProgram(tt.role))
			pid := expect[*control.Started](f).PID
			f.finish(1)
			want := strings.ReplaceAll(tt.want, "PID", fmt.Sprint(pid))
			if got := f.text[outputID{0, tt.stream}]; !strings.Contains(got, want) {
				t.Errorf("%q does not say %q", got, want)
			}
		})
	}
}

// The rank's process ends, and a child of it wants to join.
func TestTooLate(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, "(while kill -0 $$ 2>/dev/null; do sleep 0.01; done; "+rankProgram("silent")+") &")
	f.output(0, 2, "the process that was started as rank 0 has ended, and process ")
	f.finish(1)
}

func TestExitWithoutGoodbye(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, rankProgram("silent"))
	expect[*control.Joined](f)
	if e := f.finish(1)[0]; e.Code != 0 || e.Signal != 0 {
		t.Errorf("%+v", e)
	}
	for _, m := range f.seen {
		if _, ok := m.(*control.Lost); ok {
			t.Error("a process that has ended counts as lost")
		}
	}
}

// The shell that was started as the rank survives the process that has joined.
func TestLostConnection(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.AllRanks, strings.Replace(rankProgram("silent"), "exec ", "", 1)+"; read x")
	joined, lost := expect[*control.Joined](f), expect[*control.Lost](f)
	if lost.PID != joined.PID {
		t.Errorf("joined %+v, lost %+v", joined, lost)
	}
	f.conn.Send(&control.StdinEnd{})
	f.finish(1)
}

func TestAbort(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, rankProgram("aborter"))
	if a := expect[*control.Aborted](f); a.Code != 42 || a.Text != "the data is bad" {
		t.Errorf("%+v", a)
	}
	f.finish(1)
}

func TestSegments(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(0, rankProgram("segment"), rankProgram("segment"), rankProgram("segment"))
	f.output(1, 1, "asking")
	if e := expect[*control.Exited](f); e.Rank != 2 || e.Code != 3 {
		t.Fatalf("%+v", e)
	}
	f.conn.Send(&control.Stdin{Data: []byte("\n")})
	f.seen = append(f.seen, &control.Exited{Rank: 2, Code: 3})
	for i, e := range f.finish(3)[:2] {
		if e.Code != 0 {
			t.Errorf("rank %d: %+v %s", i, e, f.text[outputID{i, 2}])
		}
	}
	for rank, want := range []string{
		"wrong size: rank 0: publishing segment 0x8 of 4096 bytes: the descriptor is of a file of 1 bytes\n" +
			"again: rank 0: publishing segment 0x7 of 1 bytes: the key is in use, or was\n" +
			"unpublished: rank 0: withdrawing segment 0x4d2: it is not published\n",
		"asking\nopened \"hello from 0\"\n" +
			"never published: rank 1: opening segment 0x63 of rank 0: rank 0 has left the job, and had not published it\n" +
			"dead: rank 1: opening segment 0x1 of rank 2: rank 2 has ended: exited with code 3, and had not published it\n" +
			"nobody: rank 1: opening segment 0x1 of rank 3: rank 3 is not on this host\n" +
			"withdrawn: rank 1: opening segment 0x9 of rank 0: rank 0 has withdrawn it\n" +
			"after it left: true <nil>\n",
	} {
		if got := f.text[outputID{rank, 1}]; got != want {
			t.Errorf("rank %d:\n%swant:\n%s", rank, got, want)
		}
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, `trap "echo caught; exit 4" TERM; echo ready; while :; do sleep 0.01; done`, rankProgram("leaver"))
	f.output(0, 1, "ready")
	f.output(1, 1, "left")
	f.conn.Send(&control.Signal{Sig: int(syscall.SIGTERM), SpareLeft: true})
	if e := expect[*control.Exited](f); e.Rank != 0 || e.Code != 4 {
		t.Errorf("%+v", e)
	}
	f.conn.Send(&control.Signal{Sig: int(syscall.SIGTERM)})
	if e := expect[*control.Exited](f); e.Rank != 1 || e.Signal != int(syscall.SIGTERM) {
		t.Errorf("%+v", e)
	}
}

// A signal that comes while ranks are being started reaches all of them.
func TestSignalRightBehindStart(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	const n = 16
	f.start(control.NoRank, slices.Repeat([]string{"exec sleep 1000"}, n)...)
	f.conn.Send(&control.Signal{Sig: int(syscall.SIGTERM)})
	for range n {
		if e := expect[*control.Exited](f); e.Signal != int(syscall.SIGTERM) {
			t.Errorf("%+v", e)
		}
	}
}

func TestKillReachesWhatHasMovedAway(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, `trap "" TERM; setsid sh -c "setsid sleep 1000 & echo away; sleep 1000" & wait; sleep 1000`)
	f.output(0, 1, "away")
	f.conn.Send(&control.Kill{})
	if e := f.finish(1)[0]; e.Signal != int(syscall.SIGKILL) {
		t.Errorf("%+v", e)
	}
}

// A rank's process ends and its descendant stays, with the rank's stdout.
func TestFinishKillsWhatStays(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, "setsid sleep 1000 & echo started")
	f.output(0, 1, "started")
	expect[*control.Exited](f)
	f.conn.Send(&control.Finish{Linger: 1})
	if d := expect[*control.Done](f); d.Killed != 1 {
		t.Errorf("%+v", d)
	}
}

func TestFinishLetsALoggerFinish(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(control.NoRank, "(sleep 0.02; echo last words) & exit 0")
	f.finish(1)
	if got := f.text[outputID{0, 1}]; got != "last words\n" {
		t.Errorf("%q", got)
	}
}

// Somebody outside the job holds a rank's stdout.
func TestFinishDoesNotWaitForStrangers(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.start(0, "echo ready; read x; echo more")
	pid := expect[*control.Started](f).PID
	f.output(0, 1, "ready")
	stranger, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", pid), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	f.conn.Send(&control.StdinEnd{})
	f.finish(1)
	if got := f.text[outputID{0, 1}]; got != "ready\nmore\n" {
		t.Errorf("%q", got)
	}
}

func TestNotStarted(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script")
	os.WriteFile(script, []byte("no binary, no #!"), 0o755)
	f := newFront(t)
	f.conn.Send(&control.Start{Size: 4, Stdin: control.NoRank, Programs: []control.Program{
		{First: 0, Count: 1, Path: "/does/not/exist", Args: []string{"x"}},
		{First: 1, Count: 1, Path: script, Args: []string{"x"}},
		{First: 2, Count: 1, Path: "/bin/true", Args: []string{"x"}, Dir: "/not/there"},
		{First: 3, Count: 1, Path: "/bin/true", Args: []string{"x"}},
	}})
	for i, want := range []struct {
		errno syscall.Errno
		text  string
	}{
		{syscall.ENOENT, "cannot run /does/not/exist: no such file or directory"},
		{syscall.ENOEXEC, "cannot run " + script + ": exec format error"},
		{syscall.ENOENT, "cannot run in directory /not/there: no such file or directory (program /bin/true)"},
	} {
		if m := expect[*control.NotStarted](f); m.Rank != i || m.Errno != int(want.errno) || m.Text != want.text {
			t.Errorf("rank %d: %+v, want %+v", i, m, want)
		}
	}
	if e := expect[*control.Exited](f); e.Rank != 3 || e.Code != 0 {
		t.Errorf("%+v", e)
	}
}

func TestKillPreventsStarts(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	f.conn.Send(&control.Kill{})
	f.conn.Send(&control.Finish{}) // the answer says that the kill is over
	expect[*control.Done](f)
}

// Without the front the supervisor kills everything and goes.
func TestFrontIsLost(t *testing.T) {
	t.Parallel()
	scratch := filepath.Join(t.TempDir(), "scratch")
	f := newFront(t)
	f.conn.Send(&control.Build{Scratch: scratch, Dir: "/", Env: os.Environ()})
	expect[*control.Built](f)
	if _, err := os.Stat(scratch); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	alive, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	f.start(control.NoRank, `trap "" TERM HUP; exec 9>`+fifo+`; setsid sh -c "setsid sleep 1000 & echo away; sleep 1000" & wait`)
	f.output(0, 1, "away")
	f.conn.Close()
	if err := f.exit(); err == nil {
		t.Error("the supervisor ends as if all were well")
	}
	if n, err := alive.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("somebody holds the fifo: %d, %v", n, err)
	}
	if _, err := os.Stat(scratch); !os.IsNotExist(err) {
		t.Errorf("the scratch directory: %v", err)
	}
}
