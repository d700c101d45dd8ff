package launcher

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// conclude writes what is left to be written and the reports, and returns
// golaunch's exit code.
func (f *front) conclude() int {
	unkillable := f.job.Verdict().Stuck && !f.killAll()
	for _, h := range f.hosts {
		h.conn.Close()
	}
	f.closeTree()
	f.restOfOutput()
	f.flush()
	v := f.verdict()
	f.report(v)
	f.reportStats()
	if unkillable {
		f.say("some processes do not die of SIGKILL yet")
	}
	if err := f.writeJSON(v); err != nil {
		f.say("--json: %v", err)
		v.Code = max(v.Code, 1)
	}
	f.flush()
	f.endBuilder()
	f.awaitSupervisors()
	if f.OverCluster() {
		f.giveBack(true, giveBackWait)
	}
	return v.Code
}

// restOfOutput shows what was held back when the supervisor was lost.
func (f *front) restOfOutput() {
	for rank := range f.ranks {
		for _, stream := range []int{control.Stdout, control.Stderr} {
			f.cannotWrite(f.output.end(streamOf(rank, stream), f.now()))
		}
	}
}

// flush waits until everything is written. A signal that asks to end ends the
// wait.
func (f *front) flush() {
	for f.output.under > 0 {
		select {
		case w := <-f.output.written:
			f.output.took(w)
			f.cannotWrite(w.err)
		case sig := <-f.signals:
			if sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP || sig == syscall.SIGQUIT {
				return
			}
		}
	}
}

// verdict is the job's, unless it went well and its output was lost at the end.
func (f *front) verdict() lifecycle.Verdict {
	f.cannotWrite(f.output.close())
	v := f.job.Verdict()
	if v.Code == 0 && f.unwritten.Code != 0 {
		v = lifecycle.Verdict{Outcome: lifecycle.LostOutput, Code: f.unwritten.Code, Rank: -1, Text: f.unwritten.Text}
	}
	return v
}

// endBuilder ends the supervisor that has built packages, and removes what it built.
func (f *front) endBuilder() {
	if f.builder == nil || f.builder.conn == nil {
		return
	}
	f.builder.conn.Close()
	inTime(func() { <-f.builder.ended })
	os.RemoveAll(f.scratch)
}

// awaitSupervisors waits until the supervisors have ended, so that golaunch leaves
// no process behind. One that was lost or stuck has, if it can.
func (f *front) awaitSupervisors() {
	if f.job.Verdict().Stuck {
		return
	}
	late := time.After(time.Second)
	for _, h := range f.hosts {
		if h.ended == nil || h.lost {
			continue
		}
		select {
		case <-h.ended:
		case <-late:
			fmt.Fprintf(os.Stderr, "golaunch: the supervisor (process %d) does not end\n", h.pid)
			return
		}
	}
}
