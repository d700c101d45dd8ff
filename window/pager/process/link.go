package process

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/window/coherence"
	"github.com/golaunch/golaunch/window/pager/parcel"
)

const (
	// slotCount is how many contents a peer may have put here that have not been taken.
	slotCount = 32
	// maxUnderWay is how many parcels may be under way to a peer: fewer than a Conn
	// accepts before it may block (transport.MinCredit), with some left for Returns.
	maxUnderWay = 5
	// returnAfter is from how much on what is to be given back leaves by itself.
	returnParcels = 3
	returnSlots   = slotCount / 2
)

// A link is the way to one peer: another host's pager. What is sent is queued, in order,
// and leaves as far as the peer has slots, and has dealt with what came before. So nothing
// here ever waits for a peer's program.
type link struct {
	g       *pager
	host    int
	dialled bool
	conn    transport.Conn // nil: not connected yet
	dead    error          // why nothing is sent any more

	slots  []byte // where the peer puts contents
	region transport.Region

	theirs transport.Remote // the same at the peer; Len is 0 until it has told
	free   []uint16         // of those
	queue  []outgoing
	first  int // of queue
	way    int // parcels under way

	emptied []uint16 // slots to be given back
	done    int      // parcels to be given back
	pulses  []coherence.Pulse
	pulseOf []uint64 // their windows
	dirty   bool
	packet  [parcel.MaxBytes]byte
}

// outgoing is a message in the queue. It holds a reference on its content.
type outgoing struct {
	space *space
	msg   coherence.Msg
}

// open makes the slots for what the peer will send.
func (l *link) open() (err error) {
	l.slots, err = unix.Mmap(-1, 0, slotCount*l.g.contents.pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil {
		l.region, err = l.g.far.Register(0, 0, l.slots)
	}
	if err != nil {
		return fmt.Errorf("slots for host %d: %w", l.host, err)
	}
	return nil
}

// connected takes the connection, and tells the peer where its slots are.
func (l *link) connected(conn transport.Conn) {
	l.conn = conn
	at := l.region.Remote()
	b := parcel.Begin(l.packet[:0], parcel.Head{Kind: parcel.Slots}, nil, 1)
	l.check(conn.Send(parcel.AppendSlots(b, at.Key, uint64(at.Len))))
	l.mark()
}

// told takes where the peer's slots are.
func (l *link) told(key, bytes uint64) error {
	if size := uint64(slotCount * l.g.contents.pageSize); l.theirs.Len != 0 || bytes != size {
		return fmt.Errorf("%d bytes of slots, want %d, once", bytes, size)
	}
	l.theirs = transport.Remote{Key: key, Len: int64(bytes)}
	for s := range uint16(slotCount) {
		l.free = append(l.free, s)
	}
	l.mark()
	return nil
}

func (l *link) send(s *space, m coherence.Msg) {
	if l.dead != nil {
		return
	}
	if isContent(m.Data) {
		l.g.contents.at(m.Data).refs++
	}
	l.queue = append(l.queue, outgoing{s, m})
	l.mark()
}

func isContent(d coherence.Data) bool { return d != coherence.NoData && d != coherence.Zero }

// beat sends a sign of life, behind nothing that waits.
func (l *link) beat(window uint64, p coherence.Pulse) {
	l.pulses, l.pulseOf = append(l.pulses, p), append(l.pulseOf, window)
	l.mark()
}

func (l *link) giveBack(slot uint16) {
	l.emptied = append(l.emptied, slot)
	l.mark()
}

// takeBack notes what a parcel of the peer gives back.
func (l *link) takeBack(p *parcel.Parcel) error {
	if p.Done > l.way || len(l.free)+p.Freed() > slotCount {
		return fmt.Errorf("%d parcels and %d slots given back, of %d and %d", p.Done, p.Freed(), l.way, slotCount-len(l.free))
	}
	l.way -= p.Done
	for i := range p.Freed() {
		s := p.Slot(i)
		if s >= slotCount {
			return fmt.Errorf("slot %d given back, of %d", s, slotCount)
		}
		l.free = append(l.free, s)
	}
	if l.first < len(l.queue) {
		l.mark()
	}
	return nil
}

func (l *link) mark() {
	if !l.dirty {
		l.dirty = true
		l.g.dirty = append(l.g.dirty, l)
	}
}

// flush sends what can be sent.
func (l *link) flush() {
	l.dirty = false
	if l.conn == nil || l.dead != nil {
		return
	}
	for i, p := range l.pulses {
		b := parcel.Begin(l.packet[:0], parcel.Head{Kind: parcel.Pulse, Window: l.pulseOf[i]}, nil, 1)
		l.check(l.conn.Send(parcel.AppendPulse(b, p)))
	}
	l.pulses, l.pulseOf = l.pulses[:0], l.pulseOf[:0]
	for l.dead == nil && l.way < maxUnderWay && l.sendParcel() {
	}
	if l.dead == nil && (l.done >= returnParcels || len(l.emptied) >= returnSlots) {
		l.check(l.conn.Send(l.begin(parcel.Return, 0, 0)))
	}
}

// begin is the beginning of a parcel that gives back all there is.
func (l *link) begin(k parcel.Kind, window uint64, items int) []byte {
	h := parcel.Head{Kind: k, Window: window, Done: l.done}
	b := parcel.Begin(l.packet[:0], h, l.emptied, items)
	l.done, l.emptied = 0, l.emptied[:0]
	return b
}

// sendParcel sends as many messages of one window as fit, behind their contents; false:
// none can be sent.
func (l *link) sendParcel() bool {
	n := l.fits()
	if n == 0 {
		return false
	}
	s := l.queue[l.first].space
	b := l.begin(parcel.Messages, s.id, n)
	var last []byte // content that is put together with the parcel
	var at transport.Remote
	for _, o := range l.queue[l.first : l.first+n] {
		it := parcel.Item{Kind: o.msg.Kind, Host: o.msg.Host, Page: o.msg.Page, Slot: parcel.NoSlot}
		switch {
		case o.msg.Data == coherence.Zero:
			it.Slot = parcel.ZeroSlot
		case o.msg.Data != coherence.NoData:
			if last != nil {
				l.check(l.conn.Put(at, last, 0))
			}
			it.Slot = l.free[len(l.free)-1]
			l.free = l.free[:len(l.free)-1]
			last = l.g.contents.at(o.msg.Data).mem
			at = transport.Remote{Key: l.theirs.Key, Offset: int64(it.Slot) * int64(len(last)), Len: int64(len(last))}
			s.counts.PagesOut++
		}
		b = parcel.AppendItem(b, it)
		s.counts.MessagesOut++
	}
	l.post(at, last, b)
	l.way++
	l.drop(n)
	return true
}

// fits is how many messages from the front can be one parcel.
func (l *link) fits() (n int) {
	free := len(l.free)
	for _, o := range l.queue[l.first:] {
		if n == parcel.Room(len(l.emptied)) || o.space != l.queue[l.first].space {
			break
		}
		if isContent(o.msg.Data) {
			if free == 0 {
				break
			}
			free--
		}
		n++
	}
	return n
}

func (l *link) post(at transport.Remote, last, b []byte) {
	if last != nil {
		if p, ok := l.conn.(transport.PutSender); ok {
			l.check(p.PutSend(at, last, b))
			return
		}
		l.check(l.conn.Put(at, last, 0))
	}
	l.check(l.conn.Send(b))
}

// drop removes the first n of the queue.
func (l *link) drop(n int) {
	for i := l.first; i < l.first+n; i++ {
		if d := l.queue[i].msg.Data; isContent(d) {
			l.g.contents.release(d)
		}
		l.queue[i] = outgoing{}
	}
	if l.first += n; l.first == len(l.queue) {
		l.queue, l.first = l.queue[:0], 0
	}
}

// check ends the link with the first error. The host's fate is decided by its lease.
func (l *link) check(err error) {
	if err != nil && l.dead == nil {
		l.dead = fmt.Errorf("pager of host %d: %w", l.host, err)
		l.drop(len(l.queue) - l.first)
	}
}

// arrived deals with a parcel of the peer.
func (l *link) arrived(b []byte) error {
	p, err := parcel.Parse(b)
	if err == nil {
		err = l.takeBack(&p)
	}
	if err != nil {
		return err
	}
	switch p.Kind {
	case parcel.Slots:
		return l.told(p.Where())
	case parcel.Pulse:
		if s := l.g.spaces[p.Window]; s != nil {
			return s.pulse(l.host, p.Pulse())
		}
	case parcel.Messages:
		l.g.look.heard = true
		if l.done++; l.done >= returnParcels {
			l.mark()
		}
		return l.messages(&p)
	}
	return nil
}

// messages gives them to their window's machine. What comes for a window that is closed
// is late, and nobody needs it.
func (l *link) messages(p *parcel.Parcel) error {
	s := l.g.spaces[p.Window]
	for i := range p.Len() {
		it := p.Item(i)
		data, err := l.take(it.Slot)
		if err != nil {
			return err
		}
		if s == nil {
			if isContent(data) {
				l.g.contents.release(data)
			}
			continue
		}
		if err := s.heard(l.host, it, data); err != nil {
			return err
		}
	}
	return nil
}

// take makes what was put into a slot a content.
func (l *link) take(slot uint16) (coherence.Data, error) {
	switch {
	case slot == parcel.NoSlot:
		return coherence.NoData, nil
	case slot == parcel.ZeroSlot:
		return coherence.Zero, nil
	case slot >= slotCount:
		return 0, fmt.Errorf("a content in slot %d of %d", slot, slotCount)
	}
	size := l.g.contents.pageSize
	return l.g.contents.add(content{mem: l.slots[int(slot)*size : (int(slot)+1)*size], link: l, slot: slot, refs: 1}), nil
}

// forget drops what is queued for a window that ends.
func (l *link) forget(s *space) {
	kept := l.queue[:l.first]
	for _, o := range l.queue[l.first:] {
		switch {
		case o.space != s:
			kept = append(kept, o)
		case isContent(o.msg.Data):
			l.g.contents.release(o.msg.Data)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
}
