package lifecycle

// A Policy says what a rank's failure means for the others.
type Policy int

// The policies.
const (
	AbortOnFailure    Policy = iota // the job ends
	ContinueOnFailure               // the others go on
)

// Config of a job.
type Config struct {
	Ranks     int
	Hosts     []int // how many ranks each host has, in order; nil: there is one host
	OnFailure Policy
	Timeout   Instant // how long the ranks may run; 0: for ever
	// KillWait, if it is not 0, is used instead of the constant: the loss of a host
	// takes its time to be noticed.
	KillWait Instant
}

type phase int

const (
	preparing phase = iota
	running
	winding
	stopping
	killing
	finishing
	over
)

// A Job is the state of a job.
type Job struct {
	Config
	ranks    []Rank
	gone     []bool // hosts whose supervisor is done or lost
	live     int    // ranks whose process may exist
	phase    phase
	deadline Instant // of the phase; 0: none
	timeout  Instant // when Config.Timeout expires; 0: never
	hangup   Instant // when ranks are killed that have outlived SIGHUP; 0: never
	failures int     // ranks with a Failure
	verdict  Verdict
	decided  bool // verdict is final but for Stuck and a better culprit

	// signals that golaunch received
	last    Interrupted
	lastAt  Instant
	ending  int // how many asked the ranks to end, SIGQUIT apart
	quits   int
	forward int // the last one forwarded that asked the ranks to end
}

// New returns a job nothing of which was started.
func New(c Config) *Job {
	if len(c.Hosts) == 0 {
		c.Hosts = []int{c.Ranks}
	}
	if c.KillWait == 0 {
		c.KillWait = KillWait
	}
	return &Job{Config: c, ranks: make([]Rank, c.Ranks), gone: make([]bool, len(c.Hosts)), verdict: Verdict{Rank: -1}}
}

// Over reports whether there is nothing more to do; Verdict is final then.
func (j *Job) Over() bool { return j.phase == over }

// MayLaunch reports whether the ranks may be started, once: nothing has ended the job
// before.
func (j *Job) MayLaunch() bool { return j.phase == preparing }

// Verdict tells how the job ended.
func (j *Job) Verdict() Verdict { return j.verdict }

// Ranks tells what became of each rank. It must not be changed.
func (j *Job) Ranks() []Rank { return j.ranks }

// Deadline is when Handle wants a Tick at the latest; false: not at all.
func (j *Job) Deadline() (Instant, bool) {
	d := j.deadline
	if j.goesOn() {
		for _, end := range []Instant{j.timeout, j.hangup} {
			if end != 0 && (d == 0 || end < d) {
				d = end
			}
		}
	}
	return d, d != 0 && j.phase != over
}

// goesOn reports whether ranks run and nothing ends them.
func (j *Job) goesOn() bool { return j.phase == running || j.phase == winding }

// Handle takes note of an event and returns what is to be done, in order.
func (j *Job) Handle(e Event, now Instant) (todo []Action) {
	if j.phase == over {
		return nil
	}
	switch e := e.(type) {
	case Launched:
		j.launched(now)
	case Joined:
		j.ranks[e.Rank].HasJoined = true
	case Left:
		j.ranks[e.Rank].HasLeft = true
	case Lost:
		todo = j.lost(e.Rank, now)
	case NotStarted:
		todo = j.notStarted(e, now)
	case Exited:
		todo = j.exited(e, now)
	case Aborted:
		todo = j.aborted(e, now)
	case Interrupted:
		todo = j.interrupted(e, now)
	case OutputLost:
		todo = j.end(Verdict{Outcome: LostOutput, Code: e.Code, Rank: -1, Text: e.Text}, now)
	case Trouble:
		todo = j.end(Verdict{Outcome: CouldNotRun, Code: e.Code, Rank: -1, Text: e.Text}, now)
	case SupervisorLost:
		todo = j.supervisorLost(e, now)
	case Done:
		j.leave(e.Host)
	case Tick:
	}
	if j.phase == over {
		return todo
	}
	todo = append(todo, j.expire(now)...)
	return append(todo, j.finish(now)...)
}

func (j *Job) launched(now Instant) {
	j.phase, j.live = running, len(j.ranks)
	if j.Timeout != 0 {
		j.timeout = now + j.Timeout
	}
}

func (j *Job) notStarted(e NotStarted, now Instant) []Action {
	r := &j.ranks[e.Rank]
	r.Ended, r.Text = true, e.Text
	j.live--
	if j.phase >= stopping {
		r.Stopped = true
		return nil
	}
	r.Failure = StartFailed
	if e.Usage {
		r.Failure = BadProgram
	}
	return j.failed(e.Rank, now)
}

func (j *Job) exited(e Exited, now Instant) []Action {
	r := &j.ranks[e.Rank]
	r.Ended, r.Code, r.Signal = true, e.Code, e.Signal
	j.live--
	if r.Failure != None { // it was Lost, and blamed then
		return nil
	}
	failure := r.judge()
	if j.phase >= stopping && !(r.HasLeft && failure == BadExit) {
		r.Stopped = true
		return nil
	}
	if r.Failure = failure; failure == None {
		return nil
	}
	if j.phase >= stopping {
		j.betterCulprit(e.Rank)
		return nil
	}
	return j.failed(e.Rank, now)
}

// betterCulprit is told of a rank that had left and then exited with an error of
// its own, while the others are being stopped because one of them failed. A panic
// runs deferred calls first, Leave among them, and prints its trace afterwards:
// the others learn that the rank has left, fail, and may well exit before it.
func (j *Job) betterCulprit(rank int) {
	j.failures++
	if j.verdict.Outcome == RankFailed && !j.ranks[j.verdict.Rank].HasLeft {
		j.verdict.Rank, j.verdict.Code = rank, j.ranks[rank].exitCode()
	}
}

func (j *Job) lost(rank int, now Instant) []Action {
	r := &j.ranks[rank]
	if j.phase >= stopping || r.Ended || r.Failure != None {
		return nil
	}
	r.Failure = Disconnect
	return j.failed(rank, now)
}

// failed follows the failure of a rank before anything was stopped.
func (j *Job) failed(rank int, now Instant) []Action {
	r := &j.ranks[rank]
	j.failures++
	if j.failures == 1 {
		j.verdict = Verdict{Outcome: RankFailed, Code: r.exitCode(), Rank: rank}
		if j.obeyed(r) {
			j.verdict = Verdict{Outcome: WasInterrupted, Code: codeSignal + j.forward, Rank: rank, Signal: j.forward}
		}
	}
	if j.OnFailure == ContinueOnFailure || j.phase == winding || j.live == 0 {
		return nil
	}
	return j.stop(now)
}

func (j *Job) aborted(e Aborted, now Instant) []Action {
	j.ranks[e.Rank].Text = e.Text
	code := e.Code
	if code < 1 || code > 255 {
		code = codeFailure
	}
	return j.end(Verdict{Outcome: JobAborted, Code: code, Rank: e.Rank, Text: e.Text}, now)
}

// end ends the job before its time, for the reason that v gives.
func (j *Job) end(v Verdict, now Instant) []Action {
	if j.decided || j.phase >= stopping {
		return nil
	}
	j.verdict = v
	return j.stop(now)
}

// stop asks every rank to end.
func (j *Job) stop(now Instant) []Action {
	j.decided = true
	if j.phase == preparing {
		return j.kill(now)
	}
	j.phase, j.deadline = stopping, now+StopWait
	return []Action{Signal{Signal: sigterm, SpareLeft: true}}
}

func (j *Job) kill(now Instant) []Action {
	j.decided = true
	if j.phase != finishing {
		j.phase = killing
	}
	j.deadline = now + j.KillWait
	return []Action{Kill{}}
}

// expire does what is due.
func (j *Job) expire(now Instant) []Action {
	switch {
	case j.timeout != 0 && now >= j.timeout && j.goesOn():
		return j.end(Verdict{Outcome: TimedOut, Code: codeTimeout, Rank: -1}, now)
	case j.hangup != 0 && now >= j.hangup && j.goesOn():
		return j.hungUp(now)
	}
	if j.deadline == 0 || now < j.deadline {
		return nil
	}
	j.deadline = 0
	switch j.phase {
	case winding:
		j.phase = running
		if j.failures > 0 && j.OnFailure == AbortOnFailure {
			return j.stop(now)
		}
	case stopping:
		return j.kill(now)
	case killing, finishing:
		j.verdict.Stuck = true
		if j.verdict.Code == 0 {
			j.verdict.Code = codeFailure
		}
		j.phase = over
	}
	return nil
}

// finish begins the last phase once no rank is left.
func (j *Job) finish(now Instant) []Action {
	if j.live > 0 || j.phase == preparing || j.phase >= finishing {
		return nil
	}
	linger := Linger
	if j.phase >= stopping {
		linger = 0
	}
	j.phase, j.deadline = finishing, now+linger+j.KillWait
	return []Action{Finish{Linger: linger}}
}
