package roster

import (
	"cmp"
	"maps"
	"slices"
)

// Config of a roster. Durations are differences of Instants.
type Config struct {
	Self       string   // this member's name
	SelfAddr   string   // where it gossips
	Seeds      []string // addresses to call, as the user gave them
	Remembered []string // addresses of members from before
	First      Instant  // between two rounds when alone, at first
	Last       Instant  // and at most
	Heal       Instant  // between two rounds in company
	Forget     Instant  // how long who is gone stays in the table
	MaxGone    int      // how many of them at most
	// Random returns a number below n.
	Random func(n int) int
}

// reclash is how often the same clash is told of.
const reclash = 300 * Second

type entry struct {
	Entry
	leaving bool // it has said goodbye
}

type clash struct{ name, other string }

// A Roster is one host's belief.
type Roster struct {
	Config
	table   map[string]*entry
	gone    map[string]*entry // those of the table that are not alive
	clashes map[clash]Instant
	seeker
}

// New returns a roster that knows nobody, who wants calls at once.
func New(c Config, now Instant) *Roster {
	r := &Roster{Config: c, table: make(map[string]*entry), gone: make(map[string]*entry), clashes: make(map[clash]Instant)}
	r.seeker = seeker{pause: c.First, next: now, answered: make(map[string]bool)}
	return r
}

// Handle takes note of an event and returns what is to be done, in order.
func (r *Roster) Handle(e Event, now Instant) (todo []Action) {
	wasAlone := r.alone()
	switch e := e.(type) {
	case Up:
		todo = r.up(e, now)
	case Down:
		todo = r.down(e, now)
	case Goodbye:
		todo = r.goodbye(e, now)
	case Clash:
		todo = r.clash(e, now)
	case Called:
		r.called(e, now)
	case Tick:
	}
	if r.alone() && !wasAlone {
		r.hurry(now)
	}
	todo = append(todo, r.forget(now)...)
	return append(todo, r.seek(now)...)
}

// Deadline is when Handle wants a Tick at the latest; false: not at all.
func (r *Roster) Deadline() (Instant, bool) {
	d, ok := r.seekDeadline()
	for _, e := range r.gone {
		if f := e.Since + r.Forget; !ok || f < d {
			d, ok = f, true
		}
	}
	return d, ok
}

// Entries returns the table, by name.
func (r *Roster) Entries() []Entry {
	entries := make([]Entry, 0, len(r.table))
	for _, e := range r.table {
		entries = append(entries, e.Entry)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries
}

// Entry returns what is known of a name.
func (r *Roster) Entry(name string) (Entry, bool) {
	if e := r.table[name]; e != nil {
		return e.Entry, true
	}
	return Entry{}, false
}

// Alive is how many members are, this host included if gossip has said so.
func (r *Roster) Alive() int { return len(r.table) - len(r.gone) }

// alone: no other member lives.
func (r *Roster) alone() bool {
	self := r.table[r.Self]
	return r.Alive() == 0 || r.Alive() == 1 && self != nil && self.State == Alive
}

func (r *Roster) up(u Up, now Instant) []Action {
	e := r.table[u.Name]
	change := Joined
	switch {
	case e == nil:
		e = &entry{}
		r.table[u.Name] = e
	case e.State != Alive:
		delete(r.gone, u.Name)
	case e.Life != u.Life:
		change = Restarted
	case e.Addr == u.Addr && e.Meta == u.Meta:
		return nil
	default:
		change = Updated
	}
	if change != Updated {
		e.Since = now
	}
	e.leaving = e.leaving && e.Life == u.Life
	e.Name, e.Addr, e.Life, e.Meta, e.State = u.Name, u.Addr, u.Life, u.Meta, Alive
	return []Action{Tell{change, e.Entry}}
}

func (r *Roster) down(d Down, now Instant) []Action {
	e := r.table[d.Name]
	if e == nil || e.State != Alive {
		return nil
	}
	r.gone[d.Name] = e
	r.calm(now)
	if e.leaving {
		return e.become(Left, Departed, now)
	}
	return e.become(Dead, Died, now)
}

func (e *entry) become(s State, c Change, now Instant) []Action {
	e.State, e.Since = s, now
	return []Action{Tell{c, e.Entry}}
}

func (r *Roster) goodbye(g Goodbye, now Instant) []Action {
	e := r.table[g.Name]
	if e == nil || e.Life != g.Life || e.leaving || g.Name == r.Self {
		return nil
	}
	e.leaving = true
	todo := []Action{Pass{g}}
	if e.State == Dead {
		todo = append(todo, e.become(Left, Departed, now)...)
	}
	return todo
}

func (r *Roster) clash(c Clash, now Instant) []Action {
	key := clash{c.Name, c.Other}
	if last, ok := r.clashes[key]; ok && now-last < reclash {
		return nil
	}
	maps.DeleteFunc(r.clashes, func(_ clash, last Instant) bool { return now-last >= reclash })
	r.clashes[key] = now
	var e Entry
	if holder := r.table[c.Name]; holder != nil {
		e = holder.Entry
	}
	e.Name, e.Addr = c.Name, c.Other
	return []Action{Tell{Clashed, e}}
}

// forget drops who is gone for too long, and the longest gone if they are too many.
func (r *Roster) forget(now Instant) (todo []Action) {
	if len(r.gone) == 0 {
		return nil
	}
	gone := slices.SortedFunc(maps.Values(r.gone), func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Name, b.Name))
	})
	for i, e := range gone {
		if now-e.Since >= r.Forget || len(gone)-i > r.MaxGone {
			delete(r.table, e.Name)
			delete(r.gone, e.Name)
			todo = append(todo, Tell{Forgotten, e.Entry})
		}
	}
	return todo
}
