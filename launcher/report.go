package launcher

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/lifecycle"
)

// maxListed bounds how many ranks one report tells of.
const maxListed = 8

// report tells the user why the job failed, if it did.
func (f *front) report(v lifecycle.Verdict) {
	switch v.Outcome {
	case lifecycle.RankFailed:
		f.reportFailure(v.Rank)
	case lifecycle.JobAborted:
		f.say("%s aborted the job with code %d%s", f.rankName(v.Rank), v.Code, because(v.Text))
	case lifecycle.TimedOut:
		f.say("stopped, because the job took longer than --timeout %v", f.Timeout)
	case lifecycle.WasInterrupted:
		f.say("interrupted by %s", signalName(v.Signal))
	case lifecycle.LostSupervisor:
		f.say("%s; %s", v.Text, f.consequence())
	case lifecycle.LostOutput, lifecycle.CouldNotRun:
		if v.Text != "" {
			f.say("%s", strings.TrimRight(v.Text, "\n"))
		}
	}
	if v.Outcome != lifecycle.Success && v.Outcome < lifecycle.LostOutput || v.Outcome == lifecycle.LostSupervisor && len(f.hosts) > 1 {
		f.reportOthers(v)
	}
	if v.Stuck {
		f.reportStuck()
	}
}

// consequence says what the loss of a supervisor means.
func (f *front) consequence() string {
	if len(f.hosts) == 1 {
		return "every rank was stopped with it"
	}
	return "its ranks were lost with it"
}

// reportStuck names the supervisors that were not heard of any more.
func (f *front) reportStuck() {
	for _, h := range f.hosts {
		switch {
		case h.over:
		case h.ended == nil:
			f.say("the supervisor of host %s did not answer; it kills its ranks as soon as it sees that golaunch is gone", h.name)
		case len(f.hosts) == 1:
			f.say("the supervisor (process %d) did not answer; golaunch has killed everything by itself", h.pid)
		default:
			f.say("the supervisor of host %s (process %d) did not answer; golaunch has killed everything by itself", h.name, h.pid)
		}
	}
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// reportFailure tells of a rank that failed and of the last it said.
func (f *front) reportFailure(rank int) {
	f.say("%s %s", f.rankName(rank), f.failure(rank))
	if last := f.ranks[rank].stderr.Lines(); len(last) > 0 {
		f.say("the last lines of its stderr:\n  | %s", strings.Join(last, "\n  | "))
	}
}

// reportOthers tells of the ranks that the verdict does not speak of.
func (f *front) reportOthers(v lifecycle.Verdict) {
	stopped, failed, early, joined := 0, 0, []int(nil), 0
	for rank, r := range f.job.Ranks() {
		switch {
		case rank == v.Rank:
		case r.Stopped:
			stopped++
		case r.Failure != lifecycle.None && v.Outcome != lifecycle.WasInterrupted:
			if failed++; failed <= maxListed {
				f.say("%s %s", f.rankName(rank), f.failure(rank))
			}
		case r.Ended && !r.HasJoined:
			early = append(early, rank)
		}
		if r.HasJoined {
			joined++
		}
	}
	if failed > maxListed {
		f.say("%d more ranks failed", failed-maxListed)
	}
	if stopped > 0 {
		f.say("%s", stoppedText(stopped, v.Rank >= 0))
	}
	if joined > 0 && len(early) > 0 {
		f.say("%s ended without ever joining, while others had joined", ranksText(early))
	}
}

func stoppedText(n int, other bool) string {
	text := " rank"
	if other {
		text = " other rank"
	}
	if n == 1 {
		return fmt.Sprint(n, text, " was stopped")
	}
	return fmt.Sprint(n, text, "s were stopped")
}

// ranksText is "rank 3", or "ranks 1, 2, 5 and 4 more".
func ranksText(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprint("rank ", ranks[0])
	}
	var names []string
	for _, r := range ranks[:min(len(ranks), maxListed)] {
		names = append(names, fmt.Sprint(r))
	}
	text := "ranks " + strings.Join(names, ", ")
	if n := len(ranks) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// rankName is how a rank is called in a report.
func (f *front) rankName(rank int) string {
	host := f.hostOf(rank).name
	if pid := f.ranks[rank].pid; pid != 0 {
		return fmt.Sprintf("rank %d (%s, process %d)", rank, host, pid)
	}
	return fmt.Sprintf("rank %d (%s)", rank, host)
}

// failure says what a rank did wrong.
func (f *front) failure(rank int) string {
	r, info := f.job.Ranks()[rank], &f.ranks[rank]
	switch r.Failure {
	case lifecycle.NoGoodbye:
		return "exited with code 0 without leaving the job: it must call Leave before it ends"
	case lifecycle.Disconnect:
		return fmt.Sprintf("was lost: process %d, which had joined, has closed its connection without leaving", info.joiner)
	case lifecycle.StartFailed, lifecycle.BadProgram:
		return "could not be started: " + r.Text
	case lifecycle.LostHost:
		return "was lost with its host"
	}
	return ending(info.exit)
}

// ending says how a process ended.
func ending(e *control.Exited) string {
	if e == nil {
		return "has ended"
	}
	return endingOf(e.Code, e.Signal, e.CoreDumped) + because(e.Why)
}

func endingOf(code, signal int, core bool) string {
	if signal == 0 {
		return fmt.Sprintf("exited with code %d", code)
	}
	text := fmt.Sprintf("was killed by signal %d (%s)", signal, signalName(signal))
	if core {
		text += " and left a core file"
	}
	return text
}

func signalName(signal int) string {
	if name := unix.SignalName(syscall.Signal(signal)); name != "" {
		return name
	}
	return fmt.Sprint("signal ", signal)
}

func seconds(nanoseconds int64) float64 { return float64(nanoseconds) / 1e9 }
