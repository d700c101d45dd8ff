package roster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A record is what gossip carries of a member.
type record struct {
	name, addr, meta string
	life             uint64
	version          int // the member's own count; a higher one wins
	dead             bool
	heard            Instant // when this host learned that it is dead
}

// A host is one of the fake network. Its view is what gossip (as memberlist does it)
// has brought there; the roster sees no more of it than memberlist tells.
type host struct {
	*network
	name, addr string
	side       int // of a partition
	up         bool
	life       uint64
	version    int
	view       map[string]record
	roster     *Roster
	shown      map[string]State // what the roster's news add up to
	calling    bool
}

// A network is hosts, a clock and chance.
type network struct {
	t *testing.T
	*rand.Rand
	now   Instant
	hosts []*host
	lives uint64
	later map[Instant][]func()
}

const gossipForgets = 20 * Second

func newNetwork(t *testing.T, seed uint64, hosts int) *network {
	n := &network{t: t, Rand: rand.New(rand.NewPCG(seed, 0)), later: make(map[Instant][]func())}
	for i := range hosts {
		n.hosts = append(n.hosts, &host{network: n, name: fmt.Sprint("h", i), addr: fmt.Sprint("a", i)})
	}
	return n
}

// start brings a host up, maybe at another address than before. It remembers nobody,
// and knows one seed.
func (h *host) start() {
	h.lives++
	h.up, h.life, h.version, h.calling = true, h.lives, 1, false
	h.view, h.shown = make(map[string]record), make(map[string]State)
	h.roster = New(Config{
		Self: h.name, SelfAddr: h.addr, Seeds: []string{h.hosts[0].addr, h.hosts[1].addr}, First: Second, Last: 8 * Second,
		Heal: 10 * Second, Forget: 10_000 * Second, MaxGone: 100, Random: h.IntN,
	}, h.now)
	h.learn(h.own())
}

func (h *host) own() record {
	return record{name: h.name, addr: h.addr, meta: fmt.Sprint("of life ", h.life), life: h.life, version: h.version}
}

func (h *host) reaches(o *host) bool { return h.up && o.up && h.side == o.side }

// learn takes what gossip brings, by memberlist's rules.
func (h *host) learn(r record) {
	old, known := h.view[r.name]
	if r.name == h.name && (r.dead || r.life != h.life) {
		if r.version >= h.version { // it is not so
			h.version = r.version + 1
			h.view[h.name] = h.own()
		}
		return
	}
	if known && (r.version < old.version || r.version == old.version && (old.dead || !r.dead)) || !known && r.dead {
		return
	}
	if known && !old.dead && old.addr != r.addr {
		if !r.dead {
			h.handle(Clash{r.name, r.addr})
		}
		return
	}
	r.heard = h.now
	h.view[r.name] = r
	if r.dead {
		h.handle(Down{r.name})
	} else {
		h.handle(Up{r.name, r.addr, r.life, r.meta})
	}
}

// exchange is a push-pull.
func (h *host) exchange(o *host) {
	mine, theirs := h.records(), o.records()
	for _, r := range theirs {
		h.learn(r)
	}
	for _, r := range mine {
		o.learn(r)
	}
}

func (h *host) records() []record {
	var list []record
	for _, o := range h.hosts {
		if r, ok := h.view[o.name]; ok {
			list = append(list, r)
		}
	}
	return list
}

// round is a second of gossip: a probe, an exchange, and the dead forgotten.
func (h *host) round() {
	for name, r := range h.view {
		if r.dead && h.now-r.heard > gossipForgets {
			delete(h.view, name)
		}
	}
	for _, r := range h.records() {
		if o := h.at(r.addr); !r.dead && r.name != h.name && !(h.reaches(o) && o.name == r.name) && h.IntN(2) == 0 {
			r.dead = true
			h.learn(r)
		}
	}
	if o := h.hosts[h.IntN(len(h.hosts))]; o != h && h.reaches(o) && !h.view[o.name].dead && h.view[o.name].name != "" {
		h.exchange(o)
	}
	h.handle(Tick{})
}

func (n *network) at(addr string) *host {
	i := slices.IndexFunc(n.hosts, func(h *host) bool { return h.addr == addr })
	return n.hosts[i]
}

// handle gives an event to the roster, and does what it asks for.
func (h *host) handle(e Event) {
	for _, a := range h.roster.Handle(e, h.now) {
		switch a := a.(type) {
		case Tell:
			h.show(a)
		case Pass:
			h.pass(a.Goodbye)
		case Call:
			h.call(a)
		}
	}
}

// show checks that news follow from each other.
func (h *host) show(a Tell) {
	name := a.Entry.Name
	was, known := h.shown[name]
	wasAlive := known && was == Alive
	ok := false
	switch a.Change {
	case Joined:
		ok = !wasAlive
	case Updated, Restarted:
		ok = wasAlive
	case Died:
		ok = wasAlive
	case Departed:
		ok = known && was != Left
	case Forgotten:
		ok = known && !wasAlive
		defer delete(h.shown, name)
	case Clashed:
		return
	}
	if h.shown[name] = a.Entry.State; !ok {
		h.t.Fatalf("%d s: %s hears that %s %v, who was %v (%v)", h.now/Second, h.name, name, a.Change, was, known)
	}
}

// pass sends a goodbye to two others, who get it some time.
func (h *host) pass(g Goodbye) {
	for range 2 {
		o := h.hosts[h.IntN(len(h.hosts))]
		h.after(Instant(h.IntN(5))*Second, func() {
			if h.side == o.side && o.up && o.view[g.Name].name != "" {
				o.handle(g)
			}
		})
	}
}

func (h *host) call(c Call) {
	if h.calling {
		h.t.Fatalf("%d s: %s calls while it calls", h.now/Second, h.name)
	}
	h.calling = true
	life := h.life
	h.after(Instant(1+h.IntN(3))*Second, func() {
		if !h.up || h.life != life {
			return
		}
		var answered []string
		for _, addr := range c.Addrs {
			if o := h.at(addr); h.reaches(o) {
				h.exchange(o)
				answered = append(answered, addr)
			}
		}
		h.calling = false
		h.handle(Called{answered})
	})
}

func (n *network) after(d Instant, f func()) { n.later[n.now+d] = append(n.later[n.now+d], f) }

// leave says goodbye, and goes.
func (h *host) leave() {
	for _, o := range h.hosts {
		if o != h && h.reaches(o) && h.IntN(2) == 0 && o.view[h.name].name != "" {
			o.handle(Goodbye{h.name, h.life})
		}
	}
	h.up = false
}

func (n *network) step() {
	n.now += Second
	due := n.later[n.now]
	delete(n.later, n.now)
	for _, f := range due {
		f()
	}
	for _, i := range n.Perm(len(n.hosts)) {
		if n.hosts[i].up {
			n.hosts[i].round()
		}
	}
	for _, h := range n.hosts {
		if h.up {
			h.check()
		}
	}
}

// check: the roster believes what gossip does.
func (h *host) check() {
	alive := 0
	for _, r := range h.records() {
		e, ok := h.roster.Entry(r.name)
		if !ok || (e.State == Alive) == r.dead || !r.dead && (e.Life != r.life || e.Meta != r.meta || e.Addr != r.addr) {
			h.t.Fatalf("%d s: %s believes %+v of %+v", h.now/Second, h.name, e, r)
		}
		if !r.dead {
			alive++
		}
	}
	if got := h.roster.Alive(); got != alive {
		h.t.Fatalf("%d s: %s counts %d alive, want %d", h.now/Second, h.name, got, alive)
	}
}

// disturb does something to somebody.
func (n *network) disturb() {
	h := n.hosts[n.IntN(len(n.hosts))]
	switch k := n.IntN(10); {
	case k < 4 && !h.up:
		h.start()
	case k < 5:
		h.up = false
	case k < 6 && h.up:
		h.leave()
	case k < 7 && h.up: // restarted before anybody could notice
		h.start()
	case k < 8:
		for _, h := range n.hosts {
			h.side = n.IntN(2)
		}
	case k < 9:
		for _, h := range n.hosts {
			h.side = 0
		}
	}
}

// agreed reports whether every living host sees exactly the living ones.
func (n *network) agreed() bool {
	living := make(map[string]*host)
	for _, h := range n.hosts {
		if h.up {
			living[h.name] = h
		}
	}
	for _, h := range living {
		for _, e := range h.roster.Entries() {
			o := living[e.Name]
			if (e.State == Alive) != (o != nil) || o != nil && (e.Life != o.life || e.Addr != o.addr) {
				return false
			}
		}
		if h.roster.Alive() != len(living) {
			return false
		}
	}
	return true
}

// Whatever happens to a network, when it is left alone everybody finds everybody,
// also after gossip has forgotten those on the other side.
func TestRandomNetworks(t *testing.T) {
	for seed := range uint64(300) {
		n := newNetwork(t, seed, 3+int(seed%8))
		for _, h := range n.hosts {
			h.start()
		}
		for range 60 {
			n.disturb()
			for range n.IntN(60) {
				n.step()
			}
		}
		for i, h := range n.hosts {
			if h.side = 0; !h.up && i < 2 {
				h.start() // a seed that stays away is nobody's fault
			}
		}
		quiet := 0
		for ; !n.agreed() && quiet < 300; quiet++ {
			n.step()
		}
		if quiet == 300 {
			t.Fatalf("seed %d: after %d s in peace they do not agree", seed, quiet)
		}
	}
}

// Two halves that gossip has forgotten each other of find together by the calls alone.
func TestPartitionHeals(t *testing.T) {
	n := newNetwork(t, 1, 10)
	for _, h := range n.hosts {
		h.start()
	}
	until := func(what string, limit int, done func() bool) {
		t.Helper()
		for i := 0; !done(); i++ {
			if i == limit {
				t.Fatalf("%s: not within %d s", what, limit)
			}
			n.step()
		}
	}
	until("together", 60, n.agreed)
	for i, h := range n.hosts {
		h.side = i % 2
	}
	until("apart", 60, func() bool {
		return !slices.ContainsFunc(n.hosts, func(h *host) bool { return h.roster.Alive() != 5 })
	})
	for range 100 { // gossip forgets
		n.step()
	}
	for _, h := range n.hosts {
		h.side = 0
	}
	until("together again", 60, n.agreed)
}
