package launcher

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
	"github.com/golaunch/golaunch/runtime/job"
)

// loop runs until the job is over.
func (f *front) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !f.job.Over() {
		timer.Reset(f.untilDeadline())
		select {
		case n := <-f.messages:
			f.message(n.from, n.m)
		case l := <-f.lost:
			f.lose(l)
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
			f.send(&control.Signal{Sig: a.Signal, SpareLeft: a.SpareLeft})
		case lifecycle.Kill:
			f.send(&control.Kill{})
		case lifecycle.Finish:
			f.send(&control.Finish{Linger: int64(a.Linger)})
		}
	}
}

// message does what a message of a supervisor asks for.
func (f *front) message(h *host, m control.Message) {
	switch m := m.(type) {
	case *control.Hello:
		f.greeted(h, m)
	case *control.Built:
		f.built(m)
	case *control.StdinCredit:
		f.stdinCredit(h, m.Bytes)
	case *control.StdinClosed:
		f.stdinClosed(h)
	case *control.Trouble:
		f.handle(lifecycle.Trouble{Code: 1, Text: m.Text})
	case *control.Done:
		f.done(h, m)
	default:
		f.rankMessage(h, m)
	}
}

func (f *front) done(h *host, m *control.Done) {
	h.over = true
	if f.tree != nil {
		h.conn.Close() // it has nothing to wait for, but for hosts below it
	}
	if m.Killed > 0 {
		f.verbose("killed %d processes that had outlived their rank", m.Killed)
	}
	f.handle(lifecycle.Done{Host: h.number})
}

// lose follows the loss of a supervisor.
func (f *front) lose(l loss) {
	h := l.host
	h.over, h.lost = true, true
	f.stdinClosed(h)
	for rank := h.first; rank < h.first+h.ranks; rank++ {
		if r := f.job.Ranks()[rank]; !r.HasLeft && !r.Ended {
			f.tellOthers(h, &control.Fate{Rank: rank, State: int(job.Failed), Code: int(job.CodeHostLost)})
		}
		for _, stream := range []int{control.Stdout, control.Stderr} {
			f.cannotWrite(f.output.end(streamOf(rank, stream), f.now()))
		}
	}
	f.handle(lifecycle.SupervisorLost{Host: h.number, Text: l.reason})
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
		f.hostOf(p.Rank).conn.Send(&control.Credit{Rank: p.Rank, Stream: stream, Bytes: p.Bytes})
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
		f.send(&control.Signal{Sig: int(sig)})
		f.flushHosts()
		unix.Kill(os.Getpid(), unix.SIGSTOP) // SIGTSTP would do nothing in an orphaned group
	case syscall.SIGCONT:
		f.send(&control.Signal{Sig: int(sig)})
	default:
		ends := sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT
		f.verbose("received %s", signalName(int(sig)))
		f.handle(lifecycle.Interrupted{Signal: int(sig), Ends: ends, Quit: sig == syscall.SIGQUIT})
	}
}

// flushHosts waits until what was sent to the hosts is on its way.
func (f *front) flushHosts() {
	if f.tree != nil {
		f.tree.Flush()
		return
	}
	for _, h := range f.hosts {
		h.conn.Flush()
	}
}
