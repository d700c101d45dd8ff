package transporttest

import (
	"math/rand/v2"
	"sync"

	"github.com/golaunch/golaunch/transport"
)

// Delaying returns p with completions and messages that come later and in another
// order, as far as the contract permits: each is held back for up to 7 Polls,
// seeded, and messages of one rank keep their order. Nothing sleeps: a Poll that
// holds something back rings the rank's bell, and Progress is called until nothing is
// held back.
func Delaying(p transport.Provider, seed uint64) transport.Provider {
	return delaying{p, seed}
}

type delaying struct {
	transport.Provider
	seed uint64
}

func (p delaying) Open(cfg transport.Config) (transport.Endpoint, error) {
	d := &delayed{ring: func() { cfg.Ring(cfg.Rank) }}
	if progress := cfg.Progress; progress != nil {
		cfg.Progress = func() {
			progress()
			for range maxDelay {
				if !d.holds() {
					return
				}
				progress()
			}
		}
	}
	e, err := p.Provider.Open(cfg)
	if err != nil {
		return nil, err
	}
	d.Endpoint = e
	d.random = rand.New(rand.NewPCG(p.seed, uint64(cfg.Rank)))
	return keepSides(d, e), nil
}

const maxDelay = 7

type delayed struct {
	transport.Endpoint
	ring func()

	mu     sync.Mutex // held by Poll; there to make two Polls at once harmless
	random *rand.Rand
	held   [32]holding
	number uint64 // of the next arrival
	one    [1]transport.Completion
}

// A holding is one completion or message that is held back.
type holding struct {
	state  holdingState
	polls  int    // until it may go
	number uint64 // by arrival
	done   transport.Completion
	buffer [transport.MaxMessage]byte // the message's: the endpoint takes its own back
}

type holdingState int

const (
	unused holdingState = iota
	waiting
	lent // delivered with the last Poll, whose caller may still read the buffer
)

// Poll takes in what fits, then lets go what has waited long enough.
func (d *delayed) Poll(done []transport.Completion) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeBack()
	if err := d.takeIn(); err != nil {
		return 0, err
	}
	n := d.letGo(done)
	if d.waiting() {
		d.ring()
	}
	return n, nil
}

func (d *delayed) takeBack() {
	for i := range d.held {
		if d.held[i].state == lent {
			d.held[i].state = unused
		}
	}
}

// takeIn polls once for every unused holding.
func (d *delayed) takeIn() error {
	for i := range d.held {
		h := &d.held[i]
		if h.state != unused {
			continue
		}
		n, err := d.Endpoint.Poll(d.one[:])
		if n == 0 || err != nil {
			return err
		}
		d.hold(h, d.one[0])
	}
	return nil
}

func (d *delayed) hold(h *holding, c transport.Completion) {
	h.state, h.polls, h.number = waiting, d.random.IntN(maxDelay+1), d.number
	d.number++
	h.done = c
	if c.Message != nil {
		h.done.Message = h.buffer[:copy(h.buffer[:], c.Message)]
	}
}

// letGo begins at a random holding, so completions overtake each other.
func (d *delayed) letGo(done []transport.Completion) int {
	n, first := 0, d.random.IntN(len(d.held))
	for i := range d.held {
		h := &d.held[(first+i)%len(d.held)]
		if h.state != waiting {
			continue
		}
		if h.polls--; h.polls >= 0 || n == len(done) || d.overtakes(h) {
			continue
		}
		h.state = lent
		done[n] = h.done
		n++
	}
	return n
}

// overtakes tells whether an earlier arrival from the same rank, which h must
// not overtake, is still held.
func (d *delayed) overtakes(h *holding) bool {
	if h.done.Op != 0 {
		return false
	}
	for i := range d.held {
		e := &d.held[i]
		if e.state == waiting && e.done.Op == 0 && e.done.Rank == h.done.Rank && e.number < h.number {
			return true
		}
	}
	return false
}

func (d *delayed) holds() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting()
}

func (d *delayed) waiting() bool {
	for i := range d.held {
		if d.held[i].state == waiting {
			return true
		}
	}
	return false
}
