package tcp

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

const (
	// gatherBytes of small operations leave although an Ack is awaited.
	gatherBytes = bufferBytes / 2
	// smallBytes are frames that need no buffer: most leave before another one follows.
	smallBytes = 256
	// inlineBytes is the longest payload that is copied behind its header; longer
	// ones leave from where they are.
	inlineBytes = 4 << 10
	// maxReplies bounds what one peer can have asked for without taking the answers,
	// refused Puts included.
	maxReplies = maxAnswers + maxSlots
	// connToken marks tokens that name a connection: operations without a slot.
	connToken = 1 << 31
)

// A sender is the writing side of a connection.
//
// What leaves, in order: out, then big, which follows the last header in out, then
// next. Nobody waits with mu held, and nothing but a full socket keeps a frame
// from leaving, Puts behind which an Ack is awaited excepted.
//
// Invariant: next is empty while big is. No Put of out is written before one that
// comes no earlier asks for an Ack, the pieces of a largePut excepted, of which
// the last asks.
type sender struct {
	mu    sync.Mutex
	out   buffer
	big   []byte
	bigOf *largePut // whose payload big is; nil: an answer's, or nobody's
	pipe  *pipe     // through which big leaves; nil: it is copied
	next  buffer
	// smallBuffer is for out, as long as it has little.
	smallBuffer [smallBytes]byte

	blocked atomic.Bool // the socket was full: something is left to write
	broken  error       // writing failed; reading finds out the same and ends the peer

	seq     uint32 // last frame made
	lastPut uint32
	asked   uint32 // last frame of ours about which the peer was asked
	mustAsk bool   // ask with a frame of its own

	ackSent uint32        // what the peer was told last of its own frames
	wanted  uint32        // what it wants to be told
	told    atomic.Uint64 // credit given back, as far as the peer was told

	spent uint32 // credit of the peer: bytes of messages sent

	hearing

	requests
	larges  ring[*largePut]
	replies ring[reply]
	putNext bool // a piece of a Put has its turn before an answer

	conns    map[uint32]*conn
	lastConn uint32
	freePuts []*largePut
}

// A buffer is frames to write, from the endpoint's store or in the sender's own small
// one; b is nil without any.
type buffer struct {
	b       []byte
	written int
	// The last Put in it that nobody has asked about, if unasked.
	unasked bool
	putAt   int
	putSeq  uint32
}

func (b *buffer) rest() []byte { return b.b[b.written:] }

// room returns the buffer that has room for a frame with n bytes of payload, or
// nil.
func (s *sender) room(p *peer, n int) *buffer {
	b, need := &s.out, wire.HeaderBytes+n
	switch {
	case s.big != nil:
		b = &s.next
	case b.b == nil && need <= smallBytes && p.secure == nil:
		b.b = s.smallBuffer[:0]
	}
	if cap(b.b)-len(b.b) < need && cap(b.b) < bufferBytes {
		b.b = append(p.e.sendBuffers.get(), b.b...)
	}
	if cap(b.b)-len(b.b) < need {
		return nil
	}
	return b
}

// frame numbers h, adds it to b, and returns the place of n bytes of payload
// copied behind it.
func (s *sender) frame(p *peer, b *buffer, h *wire.Header, n int) []byte {
	s.seq++
	h.Seq, h.Ack, h.Taken = s.seq, s.served(p), uint32(p.in.taken.Load())
	s.ackSent = h.Ack
	relax.Store(&s.told, uint64(h.Taken))
	relax.Store(&s.made, join(s.seq, s.spent))
	at := len(b.b)
	b.b = b.b[:at+wire.HeaderBytes+n]
	h.Encode(b.b[at:])
	if h.Kind == wire.Put {
		s.lastPut = s.seq
	}
	if h.Flags&wire.WantAck != 0 {
		s.asked, b.unasked = s.seq, false
	}
	return b.b[at+wire.HeaderBytes:]
}

// served is up to where the peer's frames were served. What has not been answered
// has not been served. The order of the two loads matters: a frame is counted
// after its answer is in replies.
func (s *sender) served(p *peer) uint32 {
	served := uint32(p.rx.served.Load())
	if r := s.replies.front(); r != nil && wire.Before(r.seq-1, served) {
		return r.seq - 1
	}
	return served
}

// awaiting tells whether the peer will say something about a Put without being
// asked again.
func (s *sender) awaiting() bool { return wire.Before(s.acked(), s.asked) }

// ask has the Puts in a buffer asked about.
func (s *sender) ask(b *buffer) {
	if b.unasked {
		wire.AskForAck(b.b[b.putAt:])
		s.asked, b.unasked = b.putSeq, false
	}
}

// pump writes what there is until nothing is left or the socket is full. Called
// with mu held.
func (p *peer) pump() {
	s := &p.tx
	if p.secure != nil {
		p.secure.wake()
		return
	}
	if s.blocked.Load() || s.broken != nil || p.fd < 0 {
		return
	}
	for {
		p.fill()
		s.ask(&s.out)
		s.ask(&s.next)
		size := s.waiting()
		if size == 0 {
			break
		}
		n, errno := p.write()
		switch errno {
		case 0:
			p.advance(n)
			if n < size {
				p.block()
				return
			}
		case unix.EINTR:
		case unix.EAGAIN:
			p.block()
			return
		default:
			p.breakOff(errno)
			return
		}
	}
	p.releaseBuffers()
}

func (p *peer) write() (int, unix.Errno) {
	ordered()
	s, fd := &p.tx, p.fd
	out := s.out.rest()
	switch {
	case len(s.big) == 0:
		return send(fd, out)
	case s.pipe != nil:
		return p.writeLent(out)
	case len(out) == 0 && len(s.next.b) == 0:
		return send(fd, s.big)
	}
	return send3(fd, out, s.big, s.next.b)
}

// waiting is how many bytes are to be written.
func (s *sender) waiting() int { return len(s.out.rest()) + len(s.big) + len(s.next.b) }

// advance takes away what was written.
func (p *peer) advance(n int) {
	s := &p.tx
	k := min(n, len(s.out.rest()))
	s.out.written += k
	if s.big != nil {
		n -= k
		k = min(n, len(s.big))
		if s.big = s.big[k:]; len(s.big) > 0 {
			return
		}
		p.bigIsOut()
		s.out.written = n - k
	}
	if len(s.out.rest()) == 0 {
		s.out.reset()
	}
}

// reset empties b. The small one is out's: it goes back.
func (b *buffer) reset() {
	if b.b, b.written, b.unasked = b.b[:0], 0, false; cap(b.b) == smallBytes {
		b.b = nil
	}
}

// bigIsOut lets what had to wait for big follow.
func (p *peer) bigIsOut() {
	s := &p.tx
	s.big = nil
	p.unlend()
	s.out.reset()
	s.out, s.next = s.next, s.out
	if l := s.bigOf; l != nil {
		s.bigOf = nil
		if len(l.src) == 0 && !l.lent {
			l.left, l.done = true, true
			p.changed()
		}
	}
}

// block notes that the socket is full. Whoever watches it next goes on writing.
func (p *peer) block() {
	p.tx.blocked.Store(true)
	p.e.watcher.wantWrite(p)
}

// unblock goes on writing after the socket was full.
func (p *peer) unblock() {
	s := &p.tx
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.waiting()
	s.blocked.Store(false)
	p.pump()
	if !s.blocked.Load() || s.waiting() != left {
		p.changed()
	}
}

// breakOff gives up writing. What the peer has sent can still be read, and says
// more about the reason.
func (p *peer) breakOff(err error) {
	p.tx.broken = failed("writing", err)
	_ = unix.Shutdown(p.fd, unix.SHUT_RDWR)
	p.e.watcher.wantWrite(p)
}

// releaseBuffers gives the buffers back. One that is being written without the
// lock is left to the collector.
func (p *peer) releaseBuffers() {
	writing := p.secure != nil && p.secure.writing
	for _, b := range [...]*buffer{&p.tx.out, &p.tx.next} {
		if cap(b.b) == bufferBytes && !writing {
			p.e.sendBuffers.put(b.b)
		}
		*b = buffer{}
	}
}

// abandon drops everything that was to be written, and ends what is in flight.
// Called with mu held.
func (s *sender) abandon(p *peer, err error) {
	p.releaseBuffers()
	p.unlend()
	s.big, s.bigOf = nil, nil
	for s.larges.count > 0 {
		s.larges.pop().done = true
	}
	s.replies = ring[reply]{}
	s.requests.fail(p, err)
}

// late notes an error of an operation without OpID.
func (s *sender) late(id uint32, err error) {
	if c := s.conns[id]; c != nil {
		c.setLate(err)
	}
}

// credit tells whether the peer has room for a message that costs that much.
func (s *sender) credit(cost int) bool {
	return int(s.spent-s.granted())+cost <= wire.CreditBytes
}

// creditDue tells whether the peer should hear that it has credit again.
func (s *sender) creditDue(p *peer) bool {
	return uint32(p.in.taken.Load())-uint32(s.told.Load()) >= wire.CreditBytes/2
}
