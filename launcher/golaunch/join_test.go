package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golaunch/golaunch/launcher"
)

// A network is a golaunch that listens, and the hosts that join it.
type network struct {
	t       *testing.T
	front   *running
	stderr  *lineReader // of the front
	key     string
	address string
}

// listening starts a golaunch that waits for hosts.
func listening(t *testing.T, hosts int, args ...string) *network {
	t.Helper()
	n := &network{t: t, key: filepath.Join(t.TempDir(), "key")}
	if err := os.WriteFile(n.key, []byte("the key of this test\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := golaunch(t, append([]string{"--listen", "127.0.0.1:0", "--hosts", fmt.Sprint(hosts), "--secret-file", n.key}, args...)...)
	n.stderr = &lineReader{seen: make(chan string, 10_000)}
	cmd.Stderr = n.stderr
	n.front = startCommand(t, cmd)
	line := n.says("waiting at ")
	_, rest, _ := strings.Cut(line, "waiting at ")
	n.address, _, _ = strings.Cut(rest, " ")
	return n
}

// A lineReader takes what is written to it apart into lines.
type lineReader struct {
	seen chan string
	rest string
}

func (l *lineReader) Write(b []byte) (int, error) {
	l.rest += string(b)
	for {
		line, rest, whole := strings.Cut(l.rest, "\n")
		if !whole {
			return len(b), nil
		}
		l.seen <- line
		l.rest = rest
	}
}

// says waits for a line of the front's stderr that contains text.
func (n *network) says(text string) string {
	n.t.Helper()
	var seen []string
	for {
		select {
		case line := <-n.stderr.seen:
			if strings.Contains(line, text) {
				return line
			}
			seen = append(seen, line)
		case <-time.After(deadline):
			n.t.Fatalf("the front does not say %q, but\n%s", text, strings.Join(seen, "\n"))
		}
	}
}

// ends waits for the front's exit code.
func (n *network) ends(code int) {
	n.t.Helper()
	if got := n.front.wait(); got.code != code {
		n.t.Errorf("the front exits with %d, want %d; %s", got.code, code, got.stdout)
	}
}

// supervise starts a host.
func (n *network) supervise(args ...string) *running {
	n.t.Helper()
	return startCommand(n.t, n.superviseCommand(args...))
}

func (n *network) superviseCommand(args ...string) *exec.Cmd {
	return golaunch(n.t, append([]string{"supervise", "--join", n.address, "--secret-file", n.key}, args...)...)
}

func TestHostsJoin(t *testing.T) {
	t.Parallel()
	n := listening(t, 2, with("-n 3", program("meet")...)...)
	b, a := n.supervise("--host", "b"), n.supervise("--host", "a", "--slots", "1")
	got := n.front.wait()
	if want := []string{
		"rank 0: host 0 of 2, on a, beside [0], 1 sharers, auto, secret of 32 bytes",
		"rank 1: host 1 of 2, on b, beside [1 2], 2 sharers, auto, secret of 32 bytes",
		"rank 2: host 1 of 2, on b, beside [1 2], 2 sharers, auto, secret of 32 bytes",
	}; got.code != 0 || !slices.Equal(sortedLines(got.stdout), want) {
		t.Errorf("code %d\n%s", got.code, got.stdout)
	}
	a.wait().expect(t, result{0, "", ""})
	b.wait().expect(t, result{0, "", ""})
}

func TestFailureReachesHostsThatJoined(t *testing.T) {
	t.Parallel()
	n := listening(t, 2, with("--on-failure continue -n 1", append(program("watch"), ":", "sh", "-c", "exit 3")...)...)
	a, b := n.supervise("--host", "a"), n.supervise("--host", "b")
	n.says("rank 1 (b) failed: exited with code 3")
	n.ends(3)
	a.wait().expect(t, result{0, "", ""})
	b.wait().expect(t, result{0, "", ""})
}

// What a host's supervisor, or an agent, was started to ignore (a script's "&", nohup)
// its ranks do not.
func TestSignalsOfTheFrontReachHostsThatIgnoreThem(t *testing.T) {
	t.Parallel()
	n := listening(t, 1, with("-n 2", sh("echo ready; exec sleep 1000")...)...)
	host := n.superviseCommand("--host", "a")
	host.Args = append([]string{"sh", "-c", `trap "" INT HUP; exec "$0" "$@"`, host.Path}, host.Args[1:]...)
	host.Path = "/bin/sh"
	startCommand(t, host)
	n.front.lines(2, "ready")
	n.front.signal(syscall.SIGINT)
	n.ends(130)
}

func TestHostsThatAreRefused(t *testing.T) {
	t.Parallel()
	n := listening(t, 2, with("-v -n 2", program("member")...)...)
	first := n.supervise("--host", "a")
	n.says("host a (127.0.0.1:")
	n.supervise("--host", "a").wait().expect(t, result{1, "", "refuses this host: a host called a has joined already"})
	n.says("refused host a (127.0.0.1:")

	other := n.superviseCommand("--host", "b")
	other.Env = append(other.Env, envVersion+"=9.9")
	startCommand(t, other).wait().expect(t, result{1, "", "the supervisor on b is version 9.9 of golaunch (protocol 4) and this is version 0.1.0 (protocol 4)"})

	wrong := filepath.Join(t.TempDir(), "wrong")
	os.WriteFile(wrong, []byte("the key of another test"), 0o600)
	n.supervise("--host", "b", "--secret-file", wrong).wait().expect(t, result{1, "", "joining the job at " + n.address + ": the front there holds another key"})

	stranger, err := net.Dial("tcp", n.address)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(stranger, "GET / HTTP/1.0\r\n\r\n")
	if answer, _ := io.ReadAll(stranger); strings.Contains(string(answer), "0.1.0") {
		t.Errorf("a stranger was told %q", answer)
	}
	n.says("refused a connection from " + stranger.LocalAddr().String())

	first.signal(syscall.SIGTERM)
	first.wait().expect(t, result{128 + 15, "", ""})
	n.says("host a has gone again; 0 of 2 are here")
	a, b := n.supervise("--host", "a"), n.supervise("--host", "b")
	n.ends(0)
	a.wait().expect(t, result{0, "", ""})
	b.wait().expect(t, result{0, "", ""})
}

func TestHostsTakeTooFewRanks(t *testing.T) {
	t.Parallel()
	n := listening(t, 2, with("-n 4", program("member")...)...)
	b, a := n.supervise("--host", "b", "--slots", "2"), n.supervise("--host", "a", "--slots", "1")
	n.says("golaunch: the job has 4 ranks, and its hosts take fewer: a 1, b 2")
	n.ends(launcher.CodeUsage)
	a.wait().expect(t, result{1, "", "refuses this host: the job has 4 ranks"})
	b.wait().expect(t, result{1, "", "refuses this host: the job has 4 ranks"})
}

func TestInterruptedWhileHostsJoin(t *testing.T) {
	t.Parallel()
	n := listening(t, 2, with("-v -n 2", program("member")...)...)
	a := n.supervise("--host", "a")
	n.says("1 of 2 are here")
	n.front.signal(syscall.SIGINT)
	n.says("golaunch: interrupted by SIGINT")
	n.ends(130)
	a.wait().expect(t, result{1, "", "refuses this host: interrupted by SIGINT"})
}

func TestProgramIsNotOnTheHost(t *testing.T) {
	t.Parallel()
	prog := filepath.Join(t.TempDir(), "prog")
	os.WriteFile(prog, []byte("#!/bin/sh\n"), 0o755)
	n := listening(t, 1, prog)
	os.Remove(prog)
	n.supervise("--host", "a")
	n.says("rank 0 (a) could not be started: cannot run " + prog + ": no such file or directory")
	n.ends(launcher.CodeUsage)
}

// lost returns a job of two hosts whose ranks watch each other, and the pids of the
// ranks.
func watching(t *testing.T, flags string) (n *network, a, b *running) {
	t.Helper()
	n = listening(t, 2, with("-n 2 "+flags, program("watch")...)...)
	a, b = n.supervise("--host", "a"), n.supervise("--host", "b")
	n.front.lines(2, "watching")
	return n, a, b
}

func TestHostIsLost(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(b *running){
		"its supervisor is killed": func(b *running) { syscall.Kill(supervisorsOf(b.cmd.Process.Pid)[0], syscall.SIGKILL) },
		"its guardian is killed":   func(b *running) { b.signal(syscall.SIGKILL) },
		"it is told to end":        func(b *running) { b.signal(syscall.SIGTERM) },
		"it is silent":             func(b *running) { syscall.Kill(supervisorsOf(b.cmd.Process.Pid)[0], syscall.SIGSTOP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a, b := watching(t, "--on-failure continue --failure-timeout 1")
			supervisor := supervisorsOf(b.cmd.Process.Pid)[0]
			kill(b)
			n.says("rank 1 (b) failed: its host was lost")
			if name == "it is silent" {
				n.says("golaunch: host b (127.0.0.1:")
				syscall.Kill(supervisor, syscall.SIGCONT)
			} else {
				n.says("was lost: its supervisor has closed the connection; its ranks were lost with it")
			}
			n.ends(1)
			a.wait().expect(t, result{0, "", ""})
			if got := b.wait(); got.code == 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestHostIsLostAndTheJobEnds(t *testing.T) {
	t.Parallel()
	n, a, b := watching(t, "")
	b.signal(syscall.SIGKILL)
	n.says("golaunch: rank 1 (b, process ")
	n.ends(1)
	a.wait().expect(t, result{0, "", ""})
	b.wait()
}

// The front is lost: ranks learn that the others are, and do not live long.
func TestFrontIsLost(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "silent": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := newFifo(t)
			script := "echo $$ >" + fifo.Name() + "; sleep 1000"
			n := listening(t, 2, with("-n 1 --failure-timeout 1 -x FIFO="+fifo.Name(), append(program("tell"), ":", "sh", "-c", script)...)...)
			a, b := n.supervise("--host", "a"), n.supervise("--host", "b")
			n.front.lines(1, "telling")
			if _, err := fifo.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			n.front.signal(signal)
			text := make([]byte, 1000)
			for got := ""; !strings.Contains(got, "rank 1 (b) failed: its host was lost"); {
				k, err := fifo.Read(text)
				if err != nil {
					t.Fatal(err)
				}
				got += string(text[:k])
			}
			a.wait().expect(t, result{1, "", "golaunch: supervise: the front at " + n.address + " is "})
			b.wait().expect(t, result{1, "", "golaunch: supervise: the front at " + n.address + " is "})
		})
	}
}

// A front that is stopped by Ctrl-Z is not lost.
func TestStoppedFrontIsNotLost(t *testing.T) {
	t.Parallel()
	n := listening(t, 1, with("--failure-timeout 0.3 --stdin 0", sh("echo ready; read x; echo $x")...)...)
	a := n.supervise("--host", "a")
	n.front.lines(1, "ready")
	n.front.signal(syscall.SIGTSTP)
	<-time.After(time.Second) // three times the failure timeout, not a wait for something
	n.front.signal(syscall.SIGCONT)
	io.WriteString(n.front.stdin, "still here\n")
	n.front.lines(1, "still here")
	n.ends(0)
	a.wait().expect(t, result{0, "", ""})
}

func TestMistakesAboutJoining(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	os.WriteFile(key, []byte("short"), 0o600)
	good := filepath.Join(t.TempDir(), "good")
	os.WriteFile(good, []byte("0123456789abcdef"), 0o600)
	open := filepath.Join(t.TempDir(), "open")
	os.WriteFile(open, []byte("0123456789abcdef"), 0o600)
	os.Chmod(open, 0o644)
	pkg := module(t, "package main\nfunc main() {}\n")
	for want, args := range map[string]string{
		"supervise: --join says where golaunch listens":            "supervise",
		"supervise: --join there: it is an address and a port":     "supervise --join there --secret-file " + key,
		"supervise: --secret-file or --secret-fd is needed":        "supervise --join there:1",
		"a key of 5 bytes is too short":                            "supervise --join there:1 --secret-file " + key,
		"others may read it (mode 0644): chmod 600 ":               "supervise --join there:1 --secret-file " + open,
		"--secret-file open /not/there: no such file or directory": "supervise --join there:1 --secret-file /not/there",
		"--secret-fd 99: ":                                                              "supervise --join there:1 --secret-fd 99",
		"--slots -1: it must not be negative":                                           "supervise --join there:1 --slots -1",
		"prog: supervise takes flags only":                                              "supervise --join there:1 prog",
		"unknown flag --jion; did you mean --join?":                                     "supervise --jion there:1",
		"unknown flag -q (golaunch supervise --help lists them)":                        "supervise -q",
		"--hosts, --secret-file and --secret-fd go with --listen":                       "--hosts 2 true",
		"--listen: --secret-file or --secret-fd is needed":                              "--listen :0 --hosts 1 true",
		"--hosts 0: the number of hosts is 1 or more":                                   "--listen :0 --secret-fd 0 true",
		"--hosts 3: the job has 2 ranks, and each host needs one at least":              "--listen :0 --hosts 3 --secret-fd 0 -n 2 true",
		"--virtual-hosts: with --listen, every host has a machine":                      "--listen :0 --hosts 2 --virtual-hosts 2 --secret-fd 0 -n 2 true",
		"--listen nowhere.invalid:0: ":                                                  "--listen nowhere.invalid:0 --hosts 1 --secret-file " + good + " true",
		pkg + ": golaunch builds a package on one machine only: build it on every host": "--listen :0 --hosts 1 --secret-fd 0 " + pkg,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			launch(t, strings.Fields(args)...).expect(t, result{launcher.CodeUsage, "", want})
		})
	}
	launch(t, "supervise", "--join", "127.0.0.1:1", "--secret-file", good, "--wait", "0.1").expect(t,
		result{1, "", "golaunch: supervise: joining the job at 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"})
	launch(t, "supervise", "--help").expect(t, result{0, "golaunch supervise --join ADDR --secret-file FILE [flags]", ""})
}

func TestKeyFromADescriptor(t *testing.T) {
	t.Parallel()
	n := listening(t, 1, program("member")...)
	cmd := golaunch(t, "supervise", "--join", n.address, "--secret-fd", "3")
	key, err := os.Open(n.key)
	if err != nil {
		t.Fatal(err)
	}
	defer key.Close()
	cmd.ExtraFiles = []*os.File{key}
	startCommand(t, cmd).wait().expect(t, result{0, "", ""})
	n.ends(0)
}
