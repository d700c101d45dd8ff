package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal is a pseudo-terminal on which golaunch runs, and what it has shown.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	shown  strings.Builder
}

func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := golaunch(t, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	term := &terminal{t: t, master: master, cmd: cmd}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); master.Close() })
	return term
}

// until reads until text has been shown, or, if text is empty, to the end.
func (term *terminal) until(text string) {
	term.t.Helper()
	b := make([]byte, 4096)
	for text == "" || !strings.Contains(term.shown.String(), text) {
		n, err := term.master.Read(b)
		if err != nil && text == "" {
			return // nobody has the terminal open any more
		}
		if err != nil {
			term.t.Fatalf("%v; shown: %q", err, term.shown.String())
		}
		term.shown.Write(b[:n])
	}
}

func (term *terminal) expect(code int, texts ...string) {
	term.t.Helper()
	term.until("")
	term.cmd.Wait()
	if got := term.cmd.ProcessState.ExitCode(); got != code {
		term.t.Errorf("code %d, want %d; shown: %q", got, code, term.shown.String())
	}
	for _, text := range texts {
		if !strings.Contains(term.shown.String(), text) {
			term.t.Errorf("shown: %q, not %q", term.shown.String(), text)
		}
	}
}

func TestCtrlC(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, with("-n 2", sh("echo ready; sleep 1000")...)...)
	term.until("ready\r\nready\r\n")
	term.master.WriteString("\x03")
	term.expect(130, "^Cgolaunch: interrupted by SIGINT\r\n")
}

// A terminal vanishes whose ranks do not mind, and print nothing.
func TestTerminalIsClosed(t *testing.T) {
	t.Parallel()
	told := newFifo(t)
	term := onTerminal(t, with("-n 2 --virtual-hosts 2 -x FIFO="+told.Name(), sh(`trap "" HUP TERM; echo $$ >$FIFO; echo ready; while :; do sleep 1000; done`)...)...)
	term.until("ready\r\nready\r\n")
	var pids [2]int
	if _, err := fmt.Fscan(told, &pids[0], &pids[1]); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	term.master.Close()
	term.cmd.Wait()
	if took := time.Since(begin); term.cmd.ProcessState.ExitCode() != 128+int(syscall.SIGHUP) || took < 10*time.Second {
		t.Error(term.cmd.ProcessState, took)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
}

func TestTypedInput(t *testing.T) {
	t.Parallel()
	term := onTerminal(t, with("-n 2", sh(`[ $GOLAUNCH_RANK = 0 ] || exit 0; printf "name? "; read name; echo "hello $name"`)...)...)
	term.until("name? ")
	term.master.WriteString("you\n")
	term.expect(0, "name? you\r\nhello you\r\n")
}

func TestRanksKnowTheTerminal(t *testing.T) {
	t.Parallel()
	show := sh("echo =$GOLAUNCH_TERMINAL=")
	onTerminal(t, show...).expect(0, "=stdout,stderr=")
	onTerminal(t, with("--tag-output", show...)...).expect(0, "==")
	launch(t, show...).expect(t, result{0, "==", ""})
}

// On a terminal stdout and stderr are one: a partial line of one is not followed by
// the other.
func TestReportBeginsOnALineOfItsOwn(t *testing.T) {
	t.Parallel()
	onTerminal(t, sh("printf partial; exit 3")...).expect(3, "partial\r\ngolaunch: rank 0 ")
}
