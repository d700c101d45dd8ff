package lifecycle

// Numbers of the signals that decisions depend on; they are the same on every
// architecture of Linux.
const (
	sighup  = 1
	sigquit = 3
	sigterm = 15
)

// codeGoQuit is what a Go program exits with after SIGQUIT, its goroutines printed.
const codeGoQuit = 2

// interrupted follows a signal to golaunch.
func (j *Job) interrupted(e Interrupted, now Instant) []Action {
	if e.Ends && e == j.last && now-j.lastAt < Echo {
		return nil
	}
	j.last, j.lastAt = e, now
	switch {
	case !e.Ends && j.phase <= winding:
		return []Action{Signal{Signal: e.Signal}}
	case !e.Ends || j.phase == killing:
		return nil
	case j.phase == preparing || j.phase <= winding && j.repeated(e):
		j.blame(e)
		return j.kill(now)
	case j.phase <= winding:
		return j.forwarded(e, now)
	}
	return j.kill(now) // it was being stopped or cleared up anyway
}

// blame makes the signal the reason of the job's end, unless a rank has failed
// before.
func (j *Job) blame(e Interrupted) {
	if j.failures == 0 {
		j.verdict = Verdict{Outcome: WasInterrupted, Code: codeSignal + e.Signal, Rank: -1, Signal: e.Signal}
	}
}

// repeated counts the signal and reports whether it asks for the second time.
// SIGQUIT is mostly sent to see where ranks hang, so it is counted apart.
func (j *Job) repeated(e Interrupted) bool {
	count := &j.ending
	if e.Quit {
		count = &j.quits
	}
	*count++
	return *count > 1
}

func (j *Job) forwarded(e Interrupted, now Instant) []Action {
	j.phase, j.deadline, j.forward = winding, now+Grace, e.Signal
	if e.Signal == sighup && j.hangup == 0 {
		j.hangup = now + HangupWait
	}
	return []Action{Signal{Signal: e.Signal}}
}

// hungUp ends ranks that have not ended although their terminal is gone.
func (j *Job) hungUp(now Instant) []Action {
	j.blame(Interrupted{Signal: sighup})
	return j.kill(now)
}

// obeyed reports whether the rank's end is what the forwarded signal does to a
// program that does not handle it.
func (j *Job) obeyed(r *Rank) bool {
	return j.forward != 0 && r.Signal == j.forward || j.forward == sigquit && r.Code == codeGoQuit
}
