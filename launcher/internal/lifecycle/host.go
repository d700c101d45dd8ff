package lifecycle

// leave notes that a host's supervisor is gone. The job is over with the last.
func (j *Job) leave(host int) {
	j.gone[host] = true
	for _, gone := range j.gone {
		if !gone {
			return
		}
	}
	j.phase, j.live = over, 0
}

// supervisorLost ends the job, or what of it was on that host.
func (j *Job) supervisorLost(e SupervisorLost, now Instant) []Action {
	if j.gone[e.Host] {
		return nil
	}
	lost := j.loseRanks(e.Host)
	j.leave(e.Host)
	if j.blamesNobody() {
		j.verdict = Verdict{Outcome: LostSupervisor, Code: codeFailure, Rank: -1, Text: e.Text}
	}
	if j.phase >= stopping {
		return nil
	}
	j.failures += max(lost, 1)
	if j.phase != preparing && (j.OnFailure == ContinueOnFailure || j.phase == winding || j.live == 0) {
		return nil
	}
	return j.stop(now)
}

// blamesNobody reports whether the loss of a supervisor is the reason of the job's
// end: nothing has gone wrong before, or it was the only one.
func (j *Job) blamesNobody() bool {
	return !j.decided && (j.failures == 0 || len(j.Hosts) == 1)
}

// loseRanks ends the ranks of a host that have not ended, and returns how many
// failed with that. What is being stopped anyway, or has no other host to go on,
// is stopped.
func (j *Job) loseRanks(host int) (lost int) {
	stopped := j.phase >= stopping || len(j.Hosts) == 1
	first := j.firstRank(host)
	for i := range j.Hosts[host] {
		r := &j.ranks[first+i]
		if r.Ended {
			continue
		}
		r.Ended = true
		j.live = max(j.live-1, 0) // it is 0 when nothing was launched
		switch {
		case r.Failure != None: // it was Lost
		case stopped || j.phase == preparing:
			r.Stopped = true
		default:
			r.Failure = LostHost
			lost++
		}
	}
	return lost
}

func (j *Job) firstRank(host int) (first int) {
	for _, ranks := range j.Hosts[:host] {
		first += ranks
	}
	return first
}
