package launcher

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// loop runs until the job is over.
func (f *front) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	messages := f.messages
	for !f.job.Over() {
		timer.Reset(f.untilDeadline())
		select {
		case m, ok := <-messages:
			if !ok {
				messages = nil // lost will tell
			} else {
				f.message(m)
			}
		case reason := <-f.lost:
			f.handle(lifecycle.SupervisorLost{Text: reason})
		case sig := <-f.signals:
			f.signal(sig.(syscall.Signal))
		case w := <-f.output.written:
			f.wrote(w)
		case do := <-f.later:
			do()
		case <-timer.C:
		}
		f.tick()
	}
}

func (f *front) now() time.Duration { return time.Since(f.began) }

func (f *front) untilDeadline() time.Duration {
	wait := time.Hour
	now := f.now()
	if at, ok := f.job.Deadline(); ok {
		wait = min(wait, time.Duration(at)-now)
	}
	if at, ok := f.output.merger.Deadline(now); ok {
		wait = min(wait, at-now)
	}
	return max(wait, 0)
}

// tick does what is due.
func (f *front) tick() {
	now := f.now()
	if at, ok := f.output.merger.Deadline(now); ok && at <= now {
		f.output.deliver(f.output.merger.Tick(now))
	}
	if at, ok := f.job.Deadline(); ok && time.Duration(at) <= now {
		f.handle(lifecycle.Tick{})
	}
}

// handle lets the job know of an event and does what it says.
func (f *front) handle(e lifecycle.Event) {
	for _, action := range f.job.Handle(e, lifecycle.Instant(f.now())) {
		switch a := action.(type) {
		case lifecycle.Signal:
			f.conn.Send(&control.Signal{Sig: a.Signal, SpareLeft: a.SpareLeft})
		case lifecycle.Kill:
			f.conn.Send(&control.Kill{})
		case lifecycle.Finish:
			f.conn.Send(&control.Finish{Linger: int64(a.Linger)})
		}
	}
}

// message does what a message of the supervisor asks for.
func (f *front) message(m control.Message) {
	switch m := m.(type) {
	case *control.Hello:
		f.greeted(m)
	case *control.Built:
		f.built(m)
	case *control.StdinCredit:
		f.stdinCredit(m.Bytes)
	case *control.StdinClosed:
		f.stdin.Close()
	case *control.Trouble:
		f.handle(lifecycle.Trouble{Code: 1, Text: m.Text})
	case *control.Done:
		f.done(m)
	default:
		f.rankMessage(m)
	}
}

func (f *front) done(m *control.Done) {
	if m.Killed > 0 {
		f.verbose("killed %d processes that had outlived their rank", m.Killed)
	}
	f.handle(lifecycle.Done{})
}

// rankMessage takes news of one rank.
func (f *front) rankMessage(m control.Message) {
	switch m := m.(type) {
	case *control.Started:
		f.ranks[m.Rank].pid = m.PID
		f.verbose("rank %d is process %d", m.Rank, m.PID)
	case *control.NotStarted:
		usage := m.Errno == int(syscall.ENOENT) || m.Errno == int(syscall.EACCES) || m.Errno == int(syscall.ENOEXEC) || m.Errno == int(syscall.ENOTDIR)
		f.handle(lifecycle.NotStarted{Rank: m.Rank, Usage: usage, Text: m.Text})
	case *control.Joined:
		f.ranks[m.Rank].joiner = m.PID
		f.verbose("rank %d has joined", m.Rank)
		f.handle(lifecycle.Joined{Rank: m.Rank})
	case *control.Left:
		f.verbose("rank %d has left", m.Rank)
		f.handle(lifecycle.Left{Rank: m.Rank})
	case *control.Lost:
		f.verbose("rank %d has lost its connection", m.Rank)
		f.handle(lifecycle.Lost{Rank: m.Rank})
	case *control.Aborted:
		f.verbose("rank %d aborts the job", m.Rank)
		f.handle(lifecycle.Aborted{Rank: m.Rank, Code: m.Code, Text: m.Text})
	case *control.Exited:
		f.ranks[m.Rank].exit = m
		f.verbose("rank %d %s after %.3f s (%.3f s user, %.3f s system, %.1f MB)", m.Rank, ending(m),
			seconds(m.Wall), seconds(m.User), seconds(m.System), float64(m.MaxRSS)/1e6)
		f.handle(lifecycle.Exited{Rank: m.Rank, Code: m.Code, Signal: m.Signal})
	case *control.Output:
		f.printed(m)
	case *control.Address: // nobody else needs it
	case *control.Report:
		f.ranks[m.Rank].figures = m.Figures
	case *control.Closed:
		f.cannotWrite(f.output.end(streamOf(m.Rank, m.Stream), f.now()))
	}
}

func (f *front) printed(m *control.Output) {
	name := streamOf(m.Rank, m.Stream)
	if name.Stderr {
		f.ranks[m.Rank].stderr.Write(m.Data)
	}
	f.cannotWrite(f.output.print(name, m.Data, f.now()))
}

// wrote gives credit for what was written.
func (f *front) wrote(w written) {
	f.output.took(w)
	f.cannotWrite(w.err)
	for _, p := range w.pieces {
		if p.Bytes == 0 {
			continue
		}
		stream := control.Stdout
		if p.Stderr {
			stream = control.Stderr
		}
		f.conn.Send(&control.Credit{Rank: p.Rank, Stream: stream, Bytes: p.Bytes})
	}
}

// cannotWrite ends the job because its output has nowhere to go, if err is not
// nil. A reader that has gone away (head, less) is no error worth a message.
func (f *front) cannotWrite(err error) {
	if err == nil {
		return
	}
	f.unwritten = lifecycle.OutputLost{Code: 1, Text: fmt.Sprintf("cannot write output: %v", err)}
	if cause(err) == syscall.EPIPE {
		f.unwritten = lifecycle.OutputLost{Code: 128 + int(syscall.SIGPIPE)}
	}
	f.handle(f.unwritten)
}

func (f *front) say(format string, args ...any) {
	f.output.say(true, "golaunch: "+fmt.Sprintf(format, args...)+"\n")
}

func (f *front) verbose(format string, args ...any) {
	if f.Verbose {
		f.say(format, args...)
	}
}

// signal follows a signal to golaunch.
func (f *front) signal(sig syscall.Signal) {
	switch sig {
	case syscall.SIGPIPE: // the write fails, and that is handled
	case syscall.SIGTSTP:
		f.conn.Send(&control.Signal{Sig: int(sig)})
		f.conn.Flush()
		unix.Kill(os.Getpid(), unix.SIGSTOP) // SIGTSTP would do nothing in an orphaned group
	case syscall.SIGCONT:
		f.conn.Send(&control.Signal{Sig: int(sig)})
	default:
		ends := sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
		f.verbose("received %s", signalName(int(sig)))
		f.handle(lifecycle.Interrupted{Signal: int(sig), Ends: ends, Quit: sig == syscall.SIGQUIT})
	}
}
