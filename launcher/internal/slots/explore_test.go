package slots

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A world is hosts and launches, and messages between them that may be late, be
// answered late, or be lost.
type world struct {
	now      Instant
	hosts    map[string]*Table
	launches []*launch
	flying   []flight
	rand     *rand.Rand
	lossy    bool
}

// A launch claims slots again and again, starts its job when it has them, and ends
// it.
type launch struct {
	job     string
	tries   int
	wants   map[string]int // slots by host
	claim   *Claim
	starts  []string // hosts that it has yet to start on
	running []string
	over    bool
}

func (l *launch) token(host string) string { return fmt.Sprint(l.job, l.tries, host) }

// A flight is a message, or the answer to one, on its way.
type flight struct {
	from    *launch
	try     int
	m       Message
	answer  bool
	granted Answer
}

const ttl = 20

func newWorld(seed uint64) *world {
	w := &world{hosts: map[string]*Table{}, rand: rand.New(rand.NewPCG(seed, 3)), lossy: seed%2 == 1}
	for _, h := range []string{"a", "b", "c"}[:1+w.rand.IntN(3)] {
		w.hosts[h] = New(1 + w.rand.IntN(3))
	}
	for i := range 2 + w.rand.IntN(2) {
		l := &launch{job: fmt.Sprint("job", i), wants: map[string]int{}}
		for _, h := range slices.Sorted(maps.Keys(w.hosts)) {
			if n := w.rand.IntN(w.hosts[h].Slots() + 1); n > 0 {
				l.wants[h] = n
			}
		}
		l.over = len(l.wants) == 0
		w.launches = append(w.launches, l)
	}
	return w
}

// step does one of the things that may happen next; false: nothing is left to be
// done.
func (w *world) step() bool {
	var can []func()
	for i := range w.flying {
		can = append(can, func() { w.arrive(i) })
		if w.lossy {
			can = append(can, func() { w.lose(i) })
		}
	}
	for _, l := range w.launches {
		if !l.over {
			can = append(can, func() { w.act(l) })
		}
	}
	if len(can) == 0 {
		return false
	}
	can[w.rand.IntN(len(can))]()
	w.now += Instant(w.rand.IntN(3))
	return true
}

// renewal stands beside the verbs of a claim. Nobody answers it.
const renewal Verb = 100

// act lets a launch do what it can without an answer.
func (w *world) act(l *launch) {
	switch {
	case l.claim == nil && len(l.running)+len(l.starts) == 0:
		l.tries++
		claim, messages := NewClaim(slices.Sorted(maps.Keys(l.wants)))
		l.claim = claim
		w.send(l, messages)
	case len(l.starts) > 0 && w.rand.IntN(2) == 0:
		w.send(l, []Message{{renewal, l.starts[0]}})
	case len(l.starts) > 0:
		host := l.starts[0]
		l.starts = l.starts[1:]
		if _, err := w.hosts[host].Start(l.job, l.token(host), w.now); err != nil {
			w.end(l) // too late: all of it ends
			return
		}
		l.running = append(l.running, host)
	case len(l.running) > 0:
		w.end(l)
	}
}

// end ends the job where it runs, and the launch, which has not claimed what it has
// not started.
func (w *world) end(l *launch) {
	for _, host := range l.running {
		w.hosts[host].End(l.job)
	}
	l.over = true
}

func (w *world) send(l *launch, messages []Message) {
	for _, m := range messages {
		w.flying = append(w.flying, flight{from: l, try: l.tries, m: m})
	}
}

func (w *world) take(i int) flight {
	f := w.flying[i]
	w.flying = slices.Delete(w.flying, i, i+1)
	return f
}

// arrive delivers a message, or an answer.
func (w *world) arrive(i int) {
	f := w.take(i)
	token := fmt.Sprint(f.from.job, f.try, f.m.Host)
	host := w.hosts[f.m.Host]
	switch {
	case f.answer:
		w.answered(f, f.granted)
	case f.m.Verb == Release:
		host.Release(token)
	case f.m.Verb == renewal:
		host.Renew(f.from.job, token, w.now+ttl, w.now)
	default:
		err := host.Reserve(Request{Job: f.from.job, Token: token, Slots: f.from.wants[f.m.Host], Until: w.now + ttl}, w.now)
		f.answer = true
		if err != nil {
			f.granted = Refused
		}
		w.flying = append(w.flying, f)
	}
}

// lose loses a message, or an answer: the launch hears in time that it has heard
// nothing.
func (w *world) lose(i int) {
	f := w.take(i)
	if f.answer || f.m.Verb == Reserve {
		w.answered(f, Unknown)
	}
}

func (w *world) answered(f flight, a Answer) {
	l := f.from
	if l.claim == nil || f.try != l.tries {
		return
	}
	w.send(l, l.claim.Answered(f.m.Host, a))
	decided, holds := l.claim.Decided()
	switch {
	case !decided:
	case holds:
		l.starts, l.claim = slices.Sorted(maps.Keys(l.wants)), nil
	default:
		l.claim, l.over = nil, l.tries == 4
	}
}

// wrong finds a host that has given away more than it has.
func (w *world) wrong() string {
	for name, h := range w.hosts {
		h.expire(w.now)
		if h.taken() > h.Slots() {
			return fmt.Sprintf("host %s: %d of %d slots are taken", name, h.taken(), h.Slots())
		}
	}
	return ""
}

// Launches race for the slots of some hosts, with messages that are late or lost. No
// host ever gives away more than it has, and all is free again in the end.
func TestLaunchesRace(t *testing.T) {
	got, refused := 0, 0
	for seed := range uint64(20_000) {
		w := newWorld(seed)
		for steps := 0; w.step(); steps++ {
			if wrong := w.wrong(); wrong != "" || steps > 10_000 {
				t.Fatalf("seed %d, step %d: %s", seed, steps, wrong)
			}
		}
		for _, l := range w.launches {
			if len(l.running) == len(l.wants) {
				got++
			} else {
				refused++
			}
		}
		for name, h := range w.hosts {
			if h.Free(w.now+ttl) != h.Slots() || len(h.Running()) > 0 {
				t.Fatalf("seed %d: host %s: %d of %d slots are free in the end", seed, name, h.Free(w.now+ttl), h.Slots())
			}
			if !w.lossy && h.Free(w.now) != h.Slots() && w.allStarted() {
				t.Fatalf("seed %d: host %s: nothing was lost, and time had to free slots", seed, name)
			}
		}
	}
	if got < 1000 || refused < 1000 {
		t.Errorf("%d launches got their slots and %d did not: the test has seen too little", got, refused)
	}
}

// allStarted reports whether nobody came too late to start, and left reservations to
// time.
func (w *world) allStarted() bool {
	for _, l := range w.launches {
		if len(l.starts) > 0 || len(l.running) > 0 && len(l.running) < len(l.wants) {
			return false
		}
	}
	return true
}
