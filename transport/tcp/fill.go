package tcp

import (
	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A largePut is a Put whose payload leaves from where it is, in pieces. Its caller
// waits until it is done.
type largePut struct {
	src   []byte // what has not been given to the socket
	dst   transport.Remote
	token uint32
	slot  int32  // -1: none
	lent  bool   // its pages are in the socket's queue until it has been acknowledged
	then  []byte // a message that is to follow, nil if there is none or it does
	left  bool   // all of src has, and if it is lent the peer has it
	done  bool   // it has left, or the peer has ended
}

// A reply is what the peer is owed for one of its requests, or why it gets
// nothing.
type reply struct {
	kind   wire.Kind // Data, Value or Refusal
	seq    uint32    // of the request
	token  uint32
	n      uint32 // bytes of a Data
	key    uint64
	offset int64
	value  uint64
}

// fill turns what is waiting into frames, as long as there is room: answers and
// pieces of Puts in turn, then requests for pieces of Gets, then whatever must be
// said and was not said with one of those.
func (p *peer) fill() {
	s := &p.tx
	for s.big == nil && (s.replies.count > 0 || s.larges.count > 0) {
		put := s.larges.count > 0 && (s.putNext || s.replies.count == 0)
		s.putNext = !put
		if put && !p.putPiece() || !put && !p.answer() {
			break
		}
	}
	p.askForPieces()
	if s.mustAsk || wire.Before(s.ackSent, s.wanted) && s.replies.count == 0 || s.creditDue(p) {
		p.sayAck()
	}
}

func (p *peer) sayAck() {
	s := &p.tx
	if b := s.room(p, 0); b != nil {
		h := wire.Header{Kind: wire.Ack}
		if s.mustAsk {
			h.Flags, s.mustAsk = wire.WantAck, false
		}
		s.frame(p, b, &h, 0)
	}
}

// putPiece makes the next piece of the Put whose turn it is. The last one asks for
// an Ack.
func (p *peer) putPiece() bool {
	s := &p.tx
	n := min(len((*s.larges.front()).src), p.e.pieceBytes)
	inline := 0
	if p.secure != nil {
		inline = n
	}
	b := s.room(p, inline)
	if b == nil {
		return false
	}
	l := s.larges.pop()
	h := wire.Header{Kind: wire.Put, Length: uint32(n), Token: l.token, Key: l.dst.Key, Offset: l.dst.Offset}
	if n == len(l.src) && (l.slot >= 0 || l.then == nil) {
		h.Flags = wire.WantAck
	}
	copy(s.frame(p, b, &h, inline), l.src)
	if inline == 0 {
		if s.big, s.bigOf = l.src[:n], l; l.lent {
			p.lend()
		}
	}
	l.src = l.src[n:]
	l.dst.Offset += int64(n)
	if len(l.src) > 0 {
		s.larges.push(l)
		return true
	}
	if l.slot >= 0 {
		s.promise(s.seq, l.slot, 0)
	}
	if l.then != nil && p.message(l.then) {
		l.then = nil
	}
	if inline > 0 {
		l.left, l.done = true, true
		p.changed()
	}
	return true
}

// answer makes the next answer. Its memory is looked up now: the region may have
// been closed since it was asked for.
func (p *peer) answer() bool {
	s := &p.tx
	r := *s.replies.front()
	inline := 0
	if int(r.n) <= p.e.inlineBytes {
		inline = int(r.n)
	}
	b := s.room(p, inline)
	if b == nil {
		return false
	}
	h := wire.Header{Kind: r.kind, Token: r.token, Key: r.key, Offset: r.offset, Value: r.value}
	if r.kind == wire.Refusal {
		s.frame(p, b, &h, 0) // before pop: it must not acknowledge the Put that it refuses
		s.replies.pop()
		return true
	}
	s.replies.pop()
	if r.kind != wire.Data {
		s.frame(p, b, &h, 0)
		return true
	}
	mem, err := p.e.regions.find(r.key, r.offset, int(r.n))
	if err != nil {
		h.Kind, h.Value = wire.Refusal, uint64(reasonOf(err))
		s.frame(p, b, &h, 0)
		return true
	}
	h.Length = r.n
	wire.Copy(s.frame(p, b, &h, inline), mem)
	if inline < len(mem) {
		s.big = mem
		p.lend()
	}
	return true
}

// askForPieces goes through the long Gets in order: a Flush behind one takes its
// place when everything before it has been asked for.
func (p *peer) askForPieces() {
	s := &p.tx
	for next := s.gets.front(); next != nil; next = s.gets.front() {
		g := &s.slots[*next]
		if g.kind == flushSlot {
			s.promise(s.lastPut, *next, 0)
			s.gets.pop()
			s.settle(p)
			continue
		}
		for g.asked < len(g.dst) {
			if g.asked-g.got >= piecesAhead*p.e.pieceBytes || s.answers >= maxAnswers || !p.askForPiece(*next) {
				return
			}
		}
		s.gets.pop()
	}
}

// askForPiece asks for the next piece of the Get in slot i.
func (p *peer) askForPiece(i int32) bool {
	s := &p.tx
	b := s.room(p, 0)
	if b == nil {
		return false
	}
	g := &s.slots[i]
	n := min(len(g.dst)-g.asked, p.e.pieceBytes)
	h := wire.Header{Kind: wire.Get, Token: uint32(i), Key: g.src.Key, Offset: g.src.Offset + int64(g.asked), Value: uint64(n)}
	s.frame(p, b, &h, 0)
	g.asked += n
	s.promise(s.seq, i, n)
	return true
}

func reasonOf(err error) uint8 {
	switch err {
	case transport.ErrKey:
		return wire.UnknownKey
	case transport.ErrAlign:
		return wire.Misaligned
	}
	return wire.OutOfRange
}
