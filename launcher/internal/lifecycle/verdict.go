package lifecycle

// An Outcome says in one word how a job ended.
type Outcome int

// The outcomes. All but Success have a code other than 0.
const (
	Success Outcome = iota
	RankFailed
	JobAborted     // by a rank
	TimedOut       // --timeout
	WasInterrupted // by a signal to golaunch
	LostOutput     // nobody reads golaunch's output
	LostSupervisor // killed, crashed, or out of reach
	CouldNotRun    // Trouble
)

func (o Outcome) String() string {
	return [...]string{"success", "failed", "aborted", "timeout", "interrupted",
		"output lost", "supervisor lost", "could not run"}[o]
}

// Exit codes that are no rank's own.
const (
	codeFailure = 1
	CodeUsage   = 2
	codeTimeout = 124
	codeSignal  = 128 // + its number
)

// A Verdict is how a job ended.
type Verdict struct {
	Outcome Outcome
	Code    int    // golaunch's exit code
	Rank    int    // the rank to blame, -1 if it is no rank's fault
	Signal  int    // that golaunch received, if it was interrupted
	Text    string // why, where the outcome and the rank's record do not say it
	// Stuck says that the supervisor did not report the end of everything within
	// KillWait after it was told to kill.
	Stuck bool
}

// A Failure says what a rank did wrong.
type Failure int

// The failures.
const (
	None        Failure = iota
	BadExit             // a code other than 0
	BadSignal           // killed by a signal
	NoGoodbye           // had joined and exited with code 0 without leaving
	Disconnect          // had joined and closed its connection without leaving
	StartFailed         // its process could not be started
	BadProgram          // its program cannot be executed
	LostHost            // nobody knows: its supervisor was lost, and other hosts go on
)

// A Rank is what is known of one rank.
type Rank struct {
	HasJoined, HasLeft bool
	Ended              bool // its process is gone, or never came
	Code               int  // exit code, when Ended
	Signal             int  // what killed it, when Ended; 0 if nothing
	Failure            Failure
	Text               string // of StartFailed and Aborted
	// Stopped says that it ended after golaunch had told it to, and is not to
	// blame for how.
	Stopped bool
}

// exitCode is what golaunch exits with when this rank is to blame.
func (r *Rank) exitCode() int {
	switch {
	case r.Failure == BadProgram:
		return CodeUsage
	case r.Failure == BadExit:
		return r.Code
	case r.Failure == BadSignal:
		return codeSignal + r.Signal
	}
	return codeFailure
}

// judge says what is wrong with how the rank's process ended.
func (r *Rank) judge() Failure {
	switch {
	case r.Signal != 0:
		return BadSignal
	case r.Code != 0:
		return BadExit
	case r.HasJoined && !r.HasLeft:
		return NoGoodbye
	}
	return None
}
