package messages

import (
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/transport"
)

// A sender on another host that announces a long message would wait a round trip for the
// word where it goes. So it lets the beginning of the message, or all of it, follow the
// announcement at once, to memory that the receiver has set aside for what comes before
// it is wanted: the porch. If a receive has matched when the announcement is seen, which
// stands before the payload, the payload is redirected to its buffer while it comes.
//
// A porch has slots, each for one message, and is made with the first long message from
// a rank. A slot is granted with one message for a later one, if nothing is in it. So no
// message waits for a slot, and all a rank can leave on another one's porch is two
// messages of slotBytes. Memory that nothing was left in is not touched.

const (
	slotBytes = 1 << 20
	// porchesBytes is how much memory a rank has for porches. Where more ranks than that
	// might need one, they have smaller slots, or below leastSlot none.
	porchesBytes = 64 << 20
	leastSlot    = 16 << 10
)

// porches are a rank's: those it has for others, and its slots in theirs. Guarded by
// Messages.mu.
type porches struct {
	slotBytes int // 0: there are none
	ours      []*porch
	theirs    [][rendezvous.Slots]rendezvous.Place // Len 0: not granted
}

// A porch is for one rank's messages.
type porch [rendezvous.Slots]slot

type slotState uint8

const (
	closed    slotState = iota // there is no memory
	vacant                     // it may be granted
	granted                    // the sender may use it
	announced                  // for the message with id
	come                       // the beginning of that is there
)

// A slot is one message's at a time. Guarded by Messages.mu, but for the memory.
type slot struct {
	landing  transport.Landing
	mem      []byte
	state    slotState
	uses     uint64   // messages so far
	id       uint64   // of the sender's operation
	length   int      // of the beginning
	waits    *Request // to be told when the beginning has come
	unwanted bool     // nobody takes it
}

func (s *porches) init(size int) {
	if s.slotBytes = min(slotBytes, porchesBytes/rendezvous.Slots/size); s.slotBytes < leastSlot {
		s.slotBytes = 0
	}
	s.ours, s.theirs = make([]*porch, size), make([][rendezvous.Slots]rendezvous.Place, size)
}

func (s *porches) close() {
	for _, p := range s.ours {
		p.close()
	}
}

func (p *porch) close() {
	for i := range rendezvous.Slots {
		if p != nil && p[i].landing != nil {
			p[i].landing.Close()
		}
	}
}

// use takes a slot for r, which is announced by p. Len 0: there is none. Called with mu
// held.
func (s *porches) use(r *Request, p *rendezvous.ReadyPacket) (at rendezvous.Place) {
	for i := range s.theirs[r.world] {
		if at = s.theirs[r.world][i]; at.Len > 0 {
			s.theirs[r.world][i] = rendezvous.Place{}
			p.Slot = uint8(i + 1)
			break
		}
	}
	return at
}

// granted notes a slot that this rank may use. Called with mu held.
func (s *porches) granted(from int, p rendezvous.GrantPacket) {
	if p.Slot > 0 {
		s.theirs[from][p.Slot-1] = p.Place
	}
}

// grant lets the rank that has sent a use another slot, if there is a vacant one, once.
func (m *Messages) grant(r *Request, a *arrival) {
	if r.pull.granted || m.porches.slotBytes == 0 || m.cfg.Local(a.from) {
		return
	}
	r.pull.granted = true
	m.mu.Lock()
	defer m.mu.Unlock()
	p := &m.porches.ours[a.from]
	if *p == nil {
		m.mu.Unlock() // Land takes locks of others
		made := m.newPorch(a.from)
		m.mu.Lock()
		if *p == nil {
			*p = made
		} else { // another goroutine was faster
			made.close()
		}
	}
	for i := range rendezvous.Slots {
		if s := &(*p)[i]; s.state == vacant {
			s.state = granted
			m.answer(a.from, rendezvous.GrantPacket{Slot: uint8(i + 1), Place: rendezvous.Place(s.landing.Remote())}.Append(nil))
			return
		}
	}
}

// newPorch makes a porch for a rank, a closed one if that can put nothing there.
func (m *Messages) newPorch(rank int) *porch {
	p := new(porch)
	n := m.porches.slotBytes
	mem := make([]byte, rendezvous.Slots*n)
	for i := range p {
		s := slot{mem: mem[i*n:][:n:n], state: vacant}
		var err error
		if s.landing, err = m.cfg.Memory.Land(rank, s.mem); err != nil {
			break
		}
		p[i] = s
	}
	return p
}

// begin returns the slot that an announced message begins in, nil if it does in none.
// false: the sender has no right to it. Called with mu held.
func (s *porches) begin(from int, p *rendezvous.ReadyPacket) (x *slot, ok bool) {
	if p.Slot == 0 {
		return nil, true
	}
	of := s.ours[from]
	if of == nil || of[p.Slot-1].state != granted {
		return nil, false
	}
	x = &of[p.Slot-1]
	x.state, x.id, x.length = announced, p.ID, int(min(int64(len(x.mem)), p.Length))
	x.uses++
	return x, true
}

// come is told that the beginning of a message has come. Called with mu held.
func (m *Messages) come(from int, id uint64) {
	p := m.porches.ours[from]
	if p == nil {
		return
	}
	for i := range p {
		s := &p[i]
		if s.state != announced || s.id != id {
			continue
		}
		if s.state = come; s.unwanted {
			s.leave()
		} else if s.waits != nil {
			m.assign(s.waits)
		}
		return
	}
}

// leave gives a slot up that was announced. What has not come yet still may. Called with
// mu held.
func (s *slot) leave() {
	s.waits, s.unwanted = nil, s.state == announced
	if s.state == come {
		s.state = vacant
	}
}

// takeWhole is a receiver's step for a message that needs no Clear.
func (m *Messages) takeWhole(r *Request, a *arrival) {
	m.takeBeginning(r, a)
	m.grant(r, a)
	if a.begun == nil {
		r.pull = pullJob{}
		m.received(r, a, rendezvous.Complete)
	}
}

// takeBeginning takes the beginning of r's message, if it has come. Otherwise it is
// redirected to r's buffer, if that has room for all of it, and r's goroutine is told when
// it has come.
func (m *Messages) takeBeginning(r *Request, a *arrival) {
	s := a.begun
	if s == nil {
		return
	}
	m.mu.Lock()
	there, number := s.state == come, s.uses
	s.waits = r
	m.mu.Unlock()
	if !there {
		if room := r.data[:r.pull.begun]; a.redirect == nil && len(room) == a.bytes && s.landing.Redirect(number, room) {
			a.redirect = room
		}
		return
	}
	if a.redirect == nil {
		copy(r.data[:r.pull.begun], s.mem)
	}
	m.mu.Lock()
	a.begun, a.redirect = nil, nil
	s.leave()
	m.mu.Unlock()
}

// leaveBeginning has nothing more stored in the buffer of a receive that ends, or that
// gets another message than a. Called without mu.
func (m *Messages) leaveBeginning(a *arrival) {
	if s := a.begun; s != nil && a.redirect != nil {
		m.mu.Lock()
		number := s.uses
		m.mu.Unlock()
		s.landing.Redirect(number, s.mem[:a.bytes])
		a.redirect = nil
	}
}
