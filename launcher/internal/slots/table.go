package slots

import (
	"fmt"
	"maps"
	"slices"
)

// An Instant is a point in time in nanoseconds; where zero lies does not matter.
type Instant int64

// A Request asks for slots of a host.
type Request struct {
	Job   string
	Token string // nobody else's; who repeats it repeats the request
	Slots int
	// Over lets the host have more taken than it has.
	Over bool
	// Until is when the reservation ends if its job has not started.
	Until Instant
}

// A Table is the slots of one host.
//
// Invariant: what requests without Over hold is at most the slots there are, as
// long as no job was adopted.
type Table struct {
	slots    int
	reserved map[string]Request // by token
	running  map[string]int     // slots by job
}

// New returns a table of a host that takes so many ranks.
func New(slots int) *Table {
	return &Table{slots: slots, reserved: map[string]Request{}, running: map[string]int{}}
}

// A FullError says that there are fewer slots than were asked for.
type FullError struct{ Asked, Free, Slots int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d slots are wanted, and %d of %d are free", e.Asked, e.Free, e.Slots)
}

// Slots is how many there are.
func (t *Table) Slots() int { return t.slots }

// Free is how many nobody holds; never negative.
func (t *Table) Free(now Instant) int {
	t.expire(now)
	return max(t.slots-t.taken(), 0)
}

func (t *Table) taken() (n int) {
	for _, r := range t.reserved {
		n += r.Slots
	}
	for _, k := range t.running {
		n += k
	}
	return n
}

// expire ends the reservations whose time is over.
func (t *Table) expire(now Instant) {
	maps.DeleteFunc(t.reserved, func(_ string, r Request) bool { return r.Until <= now })
}

// Reserve takes slots for a job, or returns a *FullError. A request that is repeated
// has its time anew, and holds its slots once.
func (t *Table) Reserve(r Request, now Instant) error {
	t.expire(now)
	if known, again := t.reserved[r.Token]; again {
		if known.Job != r.Job || known.Slots != r.Slots {
			return fmt.Errorf("the token is another reservation's")
		}
		t.reserved[r.Token] = r
		return nil
	}
	if _, runs := t.running[r.Job]; runs {
		return fmt.Errorf("job %s runs here already", r.Job)
	}
	if free := t.slots - t.taken(); !r.Over && r.Slots > free {
		return &FullError{r.Slots, max(free, 0), t.slots}
	}
	t.reserved[r.Token] = r
	return nil
}

// Renew gives a reservation its time anew. One that is not there, because it has ended or
// its job has started, does not come into being; false.
func (t *Table) Renew(job, token string, until, now Instant) bool {
	t.expire(now)
	r, has := t.reserved[token]
	if !has || r.Job != job {
		return false
	}
	r.Until = until
	t.reserved[token] = r
	return true
}

// Release gives a reservation back. One that has ended, or whose job has started, is
// not there: nothing happens.
func (t *Table) Release(token string) { delete(t.reserved, token) }

// Start turns a job's reservation into its slots, which End gives back, and returns
// how many they are.
func (t *Table) Start(job, token string, now Instant) (int, error) {
	t.expire(now)
	r, has := t.reserved[token]
	_, runs := t.running[job]
	switch {
	case runs:
		return 0, fmt.Errorf("job %s runs here already", job)
	case !has:
		return 0, fmt.Errorf("job %s has no reservation here: its time is over, or the agent was restarted", job)
	case r.Job != job:
		return 0, fmt.Errorf("the reservation is job %s's and not job %s's", r.Job, job)
	}
	delete(t.reserved, token)
	t.running[job] = r.Slots
	return r.Slots, nil
}

// Adopt notes a job that has been running since before this table was made.
func (t *Table) Adopt(job string, slots int) { t.running[job] = slots }

// End gives a job's slots back.
func (t *Table) End(job string) { delete(t.running, job) }

// Running are the jobs that have started here and not ended, by name.
func (t *Table) Running() []string { return slices.Sorted(maps.Keys(t.running)) }
