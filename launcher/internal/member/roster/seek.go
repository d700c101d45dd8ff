package roster

import (
	"cmp"
	"maps"
	"slices"
)

// perRound is how many addresses are called in one round when alone, and how often a
// dead host is called in Heal by all members together.
const perRound = 4

// A seeker decides when whom is called.
type seeker struct {
	busy     bool            // a round is under way
	next     Instant         // the earliest time of the next
	pause    Instant         // before the one after that, when alone
	answered map[string]bool // seeds that ever did
}

// hurry: this host has just lost everybody.
func (r *Roster) hurry(now Instant) {
	r.pause = r.First
	r.next = min(r.next, now+r.First)
}

// calm: somebody has gone, and everybody has just heard of it. Not all of them are
// to call there at this moment.
func (r *Roster) calm(now Instant) {
	if !r.alone() {
		r.next = max(r.next, now+r.jitter(r.interval()))
	}
}

func (r *Roster) called(c Called, now Instant) {
	r.busy = false
	for _, a := range c.Answered {
		if slices.Contains(r.Seeds, a) {
			r.answered[a] = true
		}
	}
}

// seek begins a round if one is due.
func (r *Roster) seek(now Instant) []Action {
	if r.busy || now < r.next || !r.wanted() {
		return nil
	}
	whom := r.targets()
	if len(whom) == 0 { // but for this host itself
		r.next = now + r.Last
		return nil
	}
	n := 1
	if r.alone() {
		n = perRound
	}
	r.busy = true
	r.next = now + r.jitter(r.interval())
	return []Action{Call{r.sample(whom, n)}}
}

// interval is how long until the next round, and the pauses when alone grow.
func (r *Roster) interval() Instant {
	if !r.alone() {
		return r.Heal * Instant(max(1, r.Alive()/(perRound*max(1, len(r.gone)))))
	}
	p := r.pause
	r.pause = min(2*r.pause, r.Last)
	return p
}

// jitter is between half of d and d.
func (r *Roster) jitter(d Instant) Instant {
	return d/2 + Instant(r.Random(int(d/2)+1))
}

// seekDeadline is when seek would begin a round.
func (r *Roster) seekDeadline() (Instant, bool) {
	return r.next, !r.busy && r.wanted()
}

// wanted reports whether there may be targets, at little cost.
func (r *Roster) wanted() bool {
	if r.alone() {
		return len(r.Seeds)+len(r.Remembered)+len(r.gone) > 0
	}
	return len(r.answered) < len(r.Seeds) || len(r.gone) > 0
}

// targets are the addresses that are worth a call, each once, in a fixed order.
func (r *Roster) targets() []string {
	var whom []string
	add := func(a string) {
		if a != r.SelfAddr && !slices.Contains(whom, a) {
			whom = append(whom, a)
		}
	}
	alone := r.alone()
	for _, s := range r.Seeds {
		if alone || !r.answered[s] {
			add(s)
		}
	}
	for _, e := range slices.SortedFunc(maps.Values(r.gone), func(a, b *entry) int { return cmp.Compare(a.Name, b.Name) }) {
		if e.State == Dead {
			add(e.Addr)
		}
	}
	if alone {
		for _, a := range r.Remembered {
			add(a)
		}
	}
	return whom
}

// sample returns n of them at random.
func (r *Roster) sample(whom []string, n int) []string {
	for i := range min(n, len(whom)) {
		j := i + r.Random(len(whom)-i)
		whom[i], whom[j] = whom[j], whom[i]
	}
	return whom[:min(n, len(whom))]
}
