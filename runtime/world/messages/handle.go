package messages

import (
	"github.com/golaunch/golaunch/runtime/matching"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// handle takes a packet. It runs where the packet was seen and does not block.
// Packets that make no sense are dropped: their sender, which runs the same
// program, is at fault, and whoever waits for it finds out when it ends.
func (m *Messages) handle(from int, packet []byte) {
	context, tag, message, short := rendezvous.SplitEager(packet)
	if r := m.held; short && r != nil && r.fits(context, from, int(tag)) {
		m.arrivedHeld(r, from, int(tag), message)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if short {
		m.arrived(from, context, int(tag), message)
	} else if p, err := rendezvous.Decode(packet); err == nil {
		m.heard(from, &p)
	}
}

// arrived gives a short message to a receive, or keeps a copy.
func (m *Messages) arrived(from int, context uint64, tag int, message []byte) {
	b := m.box(context)
	if b == nil {
		return // the communicator was freed
	}
	source, ok := b.member(from)
	if !ok {
		return
	}
	e := matching.Envelope{Source: int32(source), Tag: int32(tag)}
	if r, ok := b.matcher.Arrive(e); ok {
		m.deliver(r, source, tag, message)
		return
	}
	a := m.copies.take()
	a.from, a.source, a.tag, a.data = from, source, tag, append(a.data[:0], message...)
	b.matcher.Keep(e, a)
}

func (m *Messages) heard(from int, p *rendezvous.Packet) {
	switch p.Kind {
	case rendezvous.Ready:
		m.announced(from, &p.Ready)
	case rendezvous.Clear:
		m.cleared(from, p.Clear)
	case rendezvous.Withdraw:
		m.withdrawn(from, p.Withdraw.ID)
	case rendezvous.Done:
		m.done(from, p.Done)
	case rendezvous.Grant:
		m.porches.granted(from, p.Grant)
	case rendezvous.Begun:
		m.come(from, p.Begun.ID)
	}
}

func (m *Messages) announced(from int, p *rendezvous.ReadyPacket) {
	begun, ok := m.porches.begin(from, p)
	if !ok {
		return
	}
	a := m.copies.take()
	a.from, a.tag, a.announced, a.ready, a.begun = from, int(p.Tag), true, *p, begun
	if begun != nil {
		a.bytes = begun.length
	}
	b := m.box(p.Context)
	if b == nil {
		m.answer(from, rendezvous.DonePacket{ID: p.ID, Outcome: rendezvous.Abandoned}.Append(nil))
		m.copies.give(a)
		return
	}
	if a.source, ok = b.member(from); !ok {
		m.copies.give(a)
		return
	}
	e := matching.Envelope{Source: int32(a.source), Tag: p.Tag}
	if r := m.held; r != nil && r.fits(p.Context, from, a.tag) {
		m.fetch(r, a)
		return
	}
	if r, ok := b.matcher.Arrive(e); ok {
		m.fetch(r, a)
		return
	}
	b.matcher.Keep(e, a)
}

// cleared is for a send. One that was given up answers itself.
func (m *Messages) cleared(from int, p rendezvous.ClearPacket) {
	r := m.requests.find(p.ID)
	if r == nil || !r.send || r.world != from || p.From+p.Place.Len > int64(len(r.data)) {
		m.answer(from, rendezvous.DonePacket{ID: p.Receiver, Outcome: rendezvous.Withdrawn}.Append(nil))
		return
	}
	r.clears = append(r.clears, p)
	m.assign(r)
}

// withdrawn drops a message that was announced, unless a receive has matched it:
// the sender then learns that from what the receive says.
func (m *Messages) withdrawn(from int, id uint64) {
	for _, b := range m.boxes {
		for _, t := range b.matcher.Messages() {
			if a, ok := b.matcher.Look(t); ok && a.announced && a.from == from && a.ready.ID == id {
				b.matcher.Withdraw(t)
				m.copies.give(a)
				return
			}
		}
	}
}

// done ends a part, or all, of a rendezvous.
func (m *Messages) done(from int, p rendezvous.DonePacket) {
	r := m.requests.find(p.ID)
	if r == nil {
		m.stages.refused(from, p.ID)
		return
	}
	if !(r.send && r.world == from || !r.send && r.incoming != nil && r.incoming.from == from) {
		return
	}
	r.answers++
	if p.Outcome != rendezvous.Complete {
		r.verdict = p.Outcome
	}
	if r.orphan {
		m.bury(r)
		return
	}
	m.assign(r)
}
