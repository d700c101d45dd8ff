package lifecycle

import (
	"fmt"
	"slices"
	"testing"
)

// The test below walks through every state that a small job can reach. The rest of
// the system is played by a world that does whatever the real one may do next.

// A world is a job and what its processes are doing.
type world struct {
	job  *Job
	now  Instant
	proc []process
	// what golaunch did
	launched, termed, killed, finished bool
	termedAt, hungUpAt                 Instant // hungUpAt: when SIGHUP was first forwarded
	interrupts                         int
}

type process int

const (
	unstarted process = iota
	alive
	gone
)

func (w *world) clone() *world {
	c := *w
	j := *w.job
	j.ranks, j.gone = slices.Clone(j.ranks), slices.Clone(j.gone)
	c.job, c.proc = &j, slices.Clone(w.proc)
	return &c
}

// A key identifies a state of a world of two ranks at most; times count only
// relative to now.
type key struct {
	ranks                                  [2]Rank
	proc                                   [2]process
	gone                                   [2]bool
	live, failures, ending, quits, forward int
	phase                                  phase
	deadline, timeout, hangup              Instant
	termedAt, hungUpAt                     Instant
	verdict                                Verdict
	decided, echo                          bool
	last                                   Interrupted
	launched, termed, killed, finished     bool
	interrupts                             int
}

func (w *world) key() key {
	j := w.job
	rel := func(t Instant) Instant {
		if t == 0 {
			return -2 * Second // none
		}
		return max(t-w.now, -Second)
	}
	k := key{
		live: j.live, failures: j.failures, ending: j.ending, quits: j.quits, forward: j.forward, phase: j.phase,
		deadline: rel(j.deadline), timeout: rel(j.timeout), hangup: rel(j.hangup), termedAt: rel(w.termedAt), hungUpAt: rel(w.hungUpAt), verdict: j.verdict, decided: j.decided,
		echo: w.now-j.lastAt < Echo, last: j.last, launched: w.launched, termed: w.termed, killed: w.killed,
		finished: w.finished, interrupts: w.interrupts,
	}
	copy(k.ranks[:], j.ranks)
	copy(k.gone[:], j.gone)
	copy(k.proc[:], w.proc)
	return k
}

// possible lists the events that may come next.
func (w *world) possible() (events []Event) {
	if !w.launched {
		events = append(events, Trouble{Code: 1})
		if w.job.MayLaunch() {
			events = append(events, Launched{})
		}
	}
	for i, p := range w.proc {
		r := w.job.ranks[i]
		switch {
		case !w.launched || p == gone:
			continue
		case p == unstarted:
			events = append(events, NotStarted{Rank: i}, NotStarted{Rank: i, Usage: true})
		}
		if w.killed {
			events = append(events, Exited{Rank: i, Code: -1, Signal: 9})
			continue
		}
		events = append(events, Exited{Rank: i}, Exited{Rank: i, Code: 5}, Exited{Rank: i, Code: -1, Signal: 11})
		if w.termed {
			events = append(events, Exited{Rank: i, Code: -1, Signal: 15})
		}
		switch {
		case r.HasJoined && !r.HasLeft:
			events = append(events, Left{i}, Lost{i}, Aborted{Rank: i, Code: 7})
		case !r.HasJoined:
			events = append(events, Joined{i})
		}
	}
	if w.interrupts < 2 && len(w.job.Hosts) == 1 {
		events = append(events, Interrupted{Signal: 10})
	}
	if w.interrupts < 2/len(w.job.Hosts) { // with two hosts there are states enough
		events = append(events, Interrupted{Signal: 2, Ends: true}, Interrupted{Signal: sighup, Ends: true})
	}
	for host, gone := range w.job.gone {
		if !gone && w.finished {
			events = append(events, Done{host})
		}
		if !gone {
			events = append(events, SupervisorLost{Host: host})
		}
	}
	return events
}

// ranksOf lists the ranks of a host.
func (w *world) ranksOf(host int) (ranks []int) {
	for rank := range w.proc {
		if first := w.job.firstRank(host); rank >= first && rank < first+w.job.Hosts[host] {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// apply lets an event happen and checks what is done about it.
func (w *world) apply(e Event) error {
	before := w.job.Ranks()
	failing := w.failing(e)
	policyStops := w.job.OnFailure == AbortOnFailure && w.job.phase == running
	switch e := e.(type) {
	case Launched:
		w.launched = true
	case Exited:
		w.proc[e.Rank] = gone
	case NotStarted:
		w.proc[e.Rank] = gone
	case Joined:
		w.proc[e.Rank] = alive
	case SupervisorLost:
		for _, rank := range w.ranksOf(e.Host) {
			w.proc[rank] = gone
		}
	case Interrupted:
		w.interrupts++
	}
	todo := w.job.Handle(e, w.now)
	if failing && policyStops && w.job.live > 0 && !w.termed && !slices.Contains(todo, Action(Signal{Signal: 15, SpareLeft: true})) {
		return fmt.Errorf("rank failed (%+v of %+v), and nobody was stopped: %v", e, before, todo)
	}
	return w.carryOut(todo)
}

// failing says, independently of the machine, whether e is a rank's failure.
func (w *world) failing(e Event) bool {
	switch e := e.(type) {
	case Exited:
		r := w.job.ranks[e.Rank]
		return r.Failure == None && (e.Code != 0 || r.HasJoined && !r.HasLeft)
	case NotStarted, Lost:
		return true
	case SupervisorLost:
		return len(w.job.Hosts) > 1
	}
	return false
}

func (w *world) carryOut(todo []Action) error {
	for _, a := range todo {
		switch a := a.(type) {
		case Signal:
			if w.killed || w.finished {
				return fmt.Errorf("signal after the kill")
			}
			switch {
			case a.Signal == sigterm:
				w.termed, w.termedAt = true, w.now
			case a.Signal == sighup && w.hungUpAt == 0:
				w.hungUpAt = w.now
			}
		case Kill:
			w.killed = true
		case Finish:
			if w.finished {
				return fmt.Errorf("finished twice")
			}
			for i, p := range w.proc {
				if p != gone && w.launched {
					return fmt.Errorf("finished while rank %d may live", i)
				}
			}
			w.finished = true
		}
	}
	return nil
}

// invariants must hold in every state.
func (w *world) invariants() error {
	v := w.job.Verdict()
	deadline, waits := w.job.Deadline()
	var culprits int
	for _, r := range w.job.Ranks() {
		if r.Failure != None {
			culprits++
		}
		if r.Failure != None && r.Stopped {
			return fmt.Errorf("a rank that was stopped is blamed: %+v", r)
		}
	}
	switch {
	case v.Code < 0 || v.Code > 255:
		return fmt.Errorf("exit code %d", v.Code)
	case (v.Outcome == Success) != (v.Code == 0) && !v.Stuck:
		return fmt.Errorf("outcome %v with code %d", v.Outcome, v.Code)
	case culprits > 0 && v.Code == 0:
		return fmt.Errorf("%d ranks failed, and golaunch exits with 0", culprits)
	case v.Outcome == RankFailed && w.job.ranks[v.Rank].Failure == None:
		return fmt.Errorf("rank %d is blamed and has done nothing", v.Rank)
	case w.termed && !w.killed && !w.finished && !w.job.Over() && (!waits || deadline > w.termedAt+StopWait) && w.job.phase == stopping:
		return fmt.Errorf("SIGTERM at %v, and SIGKILL only at %v", w.termedAt, deadline)
	case w.hungUpAt != 0 && !w.termed && !w.killed && !w.finished && !w.job.Over() && (!waits || deadline > w.hungUpAt+HangupWait):
		return fmt.Errorf("SIGHUP at %v, and nothing ends what outlives it: %v", w.hungUpAt, deadline)
	case w.job.Over() && len(w.job.Handle(Tick{}, w.now)) > 0:
		return fmt.Errorf("something to do when it is over")
	case w.job.live < 0:
		return fmt.Errorf("%d live ranks", w.job.live)
	case (w.killed || w.finished) && !w.job.Over() && !waits:
		return fmt.Errorf("would wait for ever")
	case w.job.Over() && slices.Contains(w.job.gone, false) && !v.Stuck:
		return fmt.Errorf("over, and hosts are not: %v", w.job.gone)
	}
	return nil
}

// next lists the worlds that may follow: after an event now, or when the deadline
// has passed without any.
func (w *world) next() (events []Event, worlds []*world, err error) {
	for _, e := range w.possible() {
		c := w.clone()
		if err := c.apply(e); err != nil {
			return nil, nil, fmt.Errorf("%T%+v: %w", e, e, err)
		}
		events, worlds = append(events, e), append(worlds, c)
	}
	if deadline, ok := w.job.Deadline(); ok {
		c := w.clone()
		c.now = max(deadline, c.now)
		if err := c.apply(Tick{}); err != nil {
			return nil, nil, err
		}
		if later, ok := c.job.Deadline(); ok && later <= c.now {
			return nil, nil, fmt.Errorf("the deadline %v does not move on", later)
		}
		events, worlds = append(events, Tick{}), append(worlds, c)
	}
	return events, worlds, nil
}

func TestEveryReachableState(t *testing.T) {
	for _, c := range []Config{
		{Ranks: 2}, {Ranks: 2, OnFailure: ContinueOnFailure}, {Ranks: 1, Timeout: Second},
		{Ranks: 2, Timeout: 100 * Millisecond},
		{Ranks: 2, Hosts: []int{1, 1}}, {Ranks: 2, Hosts: []int{1, 1}, OnFailure: ContinueOnFailure},
	} {
		start := &world{job: New(c), now: Second, proc: make([]process, c.Ranks)}
		seen := map[key]bool{start.key(): true}
		todo := []*world{start}
		ends := map[Outcome]bool{}
		for len(todo) > 0 {
			w := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if w.job.Over() {
				ends[w.job.Verdict().Outcome] = true
				continue
			}
			events, worlds, err := w.next()
			if err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
			for i, n := range worlds {
				if err := n.invariants(); err != nil {
					t.Fatalf("%+v: after %T%+v: %v\n%+v", c, events[i], events[i], err, *n.job)
				}
				if k := n.key(); !seen[k] {
					seen[k] = true
					todo = append(todo, n)
				}
			}
		}
		t.Logf("%+v: %d states, outcomes %v", c, len(seen), ends)
		if len(ends) < 6 {
			t.Errorf("%+v: only the outcomes %v were reached", c, ends)
		}
	}
}
