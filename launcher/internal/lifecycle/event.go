package lifecycle

// An Instant is a point in time in nanoseconds; where zero lies does not matter.
type Instant int64

// Durations, as differences of Instants.
const (
	Millisecond Instant = 1e6
	Second      Instant = 1e9

	// StopWait is how long a rank has between SIGTERM and SIGKILL.
	StopWait = 50 * Millisecond
	// Grace is how long after a forwarded signal a failure does not stop the other
	// ranks: they may be saving their work or printing their goroutines.
	Grace = 2 * Second
	// HangupWait is how long ranks may live after SIGHUP was forwarded: whoever
	// started them is gone, and nobody else will end them.
	HangupWait = 10 * Second
	// Linger is how long descendants may outlive the last rank of a job that went
	// well, so that a logger at the end of a pipe can write its last lines.
	Linger = 100 * Millisecond
	// KillWait is how long killed processes may take to die, and a supervisor to say
	// so, before golaunch stops waiting, unless Config says more.
	KillWait = 3 * Second
	// Echo is how soon after a signal that asks to end the same one again is taken
	// for its echo: timeout(1) and others signal both a process and its group.
	Echo = 100 * Millisecond
)

// An Event is something that happened.
type Event interface{ event() }

// Launched: the supervisors were told to start the ranks.
type Launched struct{}

// NotStarted: the rank's process could not be started. Usage says that the
// program is to blame (it is not executable), not the machine.
type NotStarted struct {
	Rank  int
	Usage bool
	Text  string
}

// Joined: a process has joined as the rank.
type Joined struct{ Rank int }

// Left: the rank has said goodbye.
type Left struct{ Rank int }

// Lost: the rank's connection closed without goodbye and its process lives on.
type Lost struct{ Rank int }

// Aborted: the rank asked for the end of the job.
type Aborted struct {
	Rank, Code int
	Text       string
}

// Exited: the rank's process has ended, by Signal unless it is 0.
type Exited struct{ Rank, Code, Signal int }

// Interrupted: golaunch received a signal. Ends says that the signal asks
// processes to end (SIGINT, SIGTERM, SIGHUP, SIGQUIT); Quit that it is SIGQUIT.
type Interrupted struct {
	Signal     int
	Ends, Quit bool
}

// OutputLost: golaunch cannot write what the ranks print.
type OutputLost struct {
	Code int
	Text string
}

// Trouble: the job cannot be run, for a reason that is no rank's.
type Trouble struct {
	Code int
	Text string
}

// SupervisorLost: the supervisor of a host has died, and everything below it was
// killed, or it is out of reach, and kills everything below it by itself.
type SupervisorLost struct {
	Host int
	Text string
}

// Done: the supervisor of a host has cleared up and is gone.
type Done struct{ Host int }

// Tick: nothing but time has passed.
type Tick struct{}

func (Launched) event()       {}
func (NotStarted) event()     {}
func (Joined) event()         {}
func (Left) event()           {}
func (Lost) event()           {}
func (Aborted) event()        {}
func (Exited) event()         {}
func (Interrupted) event()    {}
func (OutputLost) event()     {}
func (Trouble) event()        {}
func (SupervisorLost) event() {}
func (Done) event()           {}
func (Tick) event()           {}

// An Action is something to be done now, on every host whose supervisor is there.
type Action interface{ action() }

// Signal: send a signal to every rank's process group, or only to those of ranks
// that have not left (those are about to exit, maybe printing a panic's trace).
type Signal struct {
	Signal    int
	SpareLeft bool
}

// Kill: send SIGKILL to every process of the job.
type Kill struct{}

// Finish: no rank is left; give their descendants Linger, kill what remains, end
// the supervisors.
type Finish struct{ Linger Instant }

func (Signal) action() {}
func (Kill) action()   {}
func (Finish) action() {}
