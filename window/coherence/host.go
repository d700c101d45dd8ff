package coherence

import "fmt"

// Config says what a host knows of the window before anything happens. It must be
// the same on all hosts, but for Self and Limit.
type Config struct {
	Self, Hosts int  // Hosts <= MaxHosts
	Pages       Page // of the whole window

	// Block i, of BlockPages pages, belongs to host Blocks[i]: each rank's part is a
	// block, say. That host is the home of its pages or, with FirstTouch, makes the
	// first that asks for one of them its home.
	Blocks     []uint8
	BlockPages Page
	FirstTouch bool

	// Limit is how many pages of other homes the host caches; 0: no limit. It is exceeded
	// only while all of them are waited for, or held: nobody who waits for a page waits for
	// room.
	Limit int
}

// Host is a host's part in the protocol: the cache of what it uses, the directory of
// the pages whose home it is, and the registrar. It is a pure state machine. Step
// allocates nothing once the pages have been touched and buffers have grown. A Host
// belongs to one goroutine at a time.
type Host struct {
	port      port
	hosts     uint8
	pages     Page
	dead      hostSet
	fenced    bool
	cache     cache
	directory directory
	registrar registrar
}

// New is a host before its first message: nothing is cached, all pages are zero. An
// error says what is wrong with the configuration.
func New(cfg Config) (*Host, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	h := &Host{port: port{self: uint8(cfg.Self)}, hosts: uint8(cfg.Hosts), pages: cfg.Pages}
	h.cache = cache{port: &h.port, placement: placement{cfg.Blocks, cfg.BlockPages, cfg.FirstTouch}, steps: &cacheSteps,
		entries: newTable[entry](cfg.Pages), dead: &h.dead, limit: cfg.Limit}
	h.directory = directory{port: &h.port, steps: &dirSteps, sharers: newTable[hostSet](cfg.Pages), active: map[Page]*transaction{}, dead: &h.dead}
	h.registrar = registrar{port: &h.port, homes: newTable[uint8](cfg.Pages)}
	return h, nil
}

func (cfg Config) check() error {
	switch {
	case cfg.Hosts < 1 || cfg.Hosts > MaxHosts:
		return fmt.Errorf("coherence: %d hosts; 1 to %d can share a window", cfg.Hosts, MaxHosts)
	case cfg.Self < 0 || cfg.Self >= cfg.Hosts:
		return fmt.Errorf("coherence: host %d of %d", cfg.Self, cfg.Hosts)
	case cfg.BlockPages == 0 || uint64(len(cfg.Blocks))*uint64(cfg.BlockPages) < uint64(cfg.Pages):
		return fmt.Errorf("coherence: %d blocks of %d pages are fewer than %d pages", len(cfg.Blocks), cfg.BlockPages, cfg.Pages)
	case cfg.Limit < 0:
		return fmt.Errorf("coherence: a limit of %d cached pages", cfg.Limit)
	}
	for i, host := range cfg.Blocks {
		if int(host) >= cfg.Hosts {
			return fmt.Errorf("coherence: block %d belongs to host %d of %d", i, host, cfg.Hosts)
		}
	}
	return nil
}

// Step takes one message and appends what follows from it to out: orders for the pager
// and messages to other hosts, to be carried out in this order. Messages of one host
// must be given to Step in the order in which that host's Steps put them out; those of
// different hosts may come in any order.
//
// The error is a *Violation: a message that breaks the protocol. The window cannot be
// trusted afterwards, on any host.
func (h *Host) Step(m Msg, out []Msg) ([]Msg, error) {
	if h.fenced || m.From < h.hosts && h.dead.has(m.From) {
		return h.refuse(m, out), nil
	}
	h.port.out = out
	if h.port.err == nil && h.valid(m) {
		h.deliver(m)
		h.deliverLocal()
		h.cache.keepLimit()
	}
	out, h.port.out = h.port.out, nil
	return out, h.port.err
}

// deliverLocal delivers what the host's cache and directory say to each other, so that
// each always knows what the other has done.
func (h *Host) deliverLocal() {
	for i := 0; i < len(h.port.local) && h.port.err == nil; i++ {
		h.deliver(h.port.local[i])
	}
	h.port.local = h.port.local[:0]
}

// refuse is what a fenced host does with everything, and every host with what the dead
// have left behind.
func (h *Host) refuse(m Msg, out []Msg) []Msg {
	if m.Data != NoData {
		out = append(out, Msg{Kind: Free, From: h.port.self, To: h.port.self, Page: m.Page, Data: m.Data})
	}
	return out
}

// valid holds a message against what can be known without the page's state.
func (h *Host) valid(m Msg) bool {
	if m.Kind > None && m.Kind <= Located && m.Page < h.pages && m.To == h.port.self && m.From < h.hosts && m.Host < h.hosts &&
		(m.Data == NoData || m.Kind.carries()) && h.comesFrom(m) {
		return true
	}
	h.port.violate(m, "not its to say")
	return false
}

// comesFrom tells whether the sender may send such a message: what happens at a host
// comes from itself, grants and demands from the page's home, and requests to a host
// that may be it. (Who the home of a page is with first-touch placement, only its
// registrar and those who have asked it know.)
func (h *Host) comesFrom(m Msg) bool {
	block := h.cache.blocks[m.Page/h.cache.blockPages]
	home, known := h.cache.home(h.cache.entries.at(m.Page), m.Page)
	switch {
	case m.Kind <= Fence:
		return m.From == h.port.self
	case m.From == h.port.self:
		return false
	case m.Kind <= WriteBack:
		return home == h.port.self || !known
	case m.Kind <= Lost:
		return known && m.From == home
	}
	return h.cache.firstTouch && (m.Kind == Locate && block == h.port.self || m.Kind == Located && m.From == block)
}

func (h *Host) deliver(m Msg) {
	switch {
	case m.Kind == Fence, m.Kind == HostDead && m.Host == h.port.self:
		h.fenced = true
		h.port.order(Kill, 0, NoData)
	case m.Kind == HostDead:
		h.dead = h.dead.with(m.Host)
		h.directory.hostDied(m.Host)
		h.cache.hostDied(m.Host)
	case m.Kind == Locate:
		h.registrar.locate(m)
	case m.Kind >= Read && m.Kind <= WriteBack:
		h.learnHome(m.Page)
		h.directory.step(m)
	default:
		h.cache.step(m)
	}
}

// learnHome: with first touch, another's request may come before the registrar's word
// that this host is the home. It has asked for the page itself, and comes first; unless
// the registrar has died, and with it that request.
func (h *Host) learnHome(p Page) {
	e := h.cache.entries.at(p)
	registrar, known := h.cache.home(e, p)
	switch {
	case known:
	case h.dead.has(registrar):
		e.home = h.port.self + 1
	default:
		h.cache.step(Msg{Kind: Located, From: h.port.self, To: h.port.self, Page: p, Host: h.port.self})
		h.deliverLocal()
	}
}

// Keeps reports whether what the last Save of page p has put aside is still to come out,
// in a later Step: the home gives its own copy up before it has heard from all others.
func (h *Host) Keeps(p Page) bool {
	t := h.directory.active[p]
	return t != nil && t.data == Saved
}

// Home is the host where page p is stored. false: that is not known here yet, because it is
// up to the first touch, and this host has not asked.
func (h *Host) Home(p Page) (host int, known bool) {
	home, known := h.cache.home(h.cache.entries.at(p), p)
	return int(home), known
}

// State is what this host may do with page p.
func (h *Host) State(p Page) State { return h.cache.entries.at(p).state }

// PutOff is how much waits for the end of holds, demands and pages that exceed the limit:
// while there is any, the HoldOvers must come in time; otherwise they may wait for the next
// Step.
func (h *Host) PutOff() int { return h.cache.putOff + h.cache.tooMany() }

// Cached is how many pages of other homes take memory here or soon will.
func (h *Host) Cached() int { return h.cache.used }
