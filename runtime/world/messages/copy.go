package messages

import (
	"github.com/golaunch/golaunch/runtime/copying"
	"github.com/golaunch/golaunch/runtime/crossmem"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// How a message is cut: a piece for each side, or two where they are long enough to
// be worth more system calls, and none longer than what giving up may have to wait
// for.
const (
	shortestPiece = 32 << 10
	longestPiece  = 256 << 10
)

func pieceOf(n int) int {
	size := max(shortestPiece, min((n/4+4095)&^4095, longestPiece))
	return max(size, (n+rendezvous.MaxPieces-1)/rendezvous.MaxPieces)
}

// A copyJob is one side's part in copying a message.
type copyJob struct {
	bytes  int64 // to be copied in all
	piece  int64
	memory crossmem.Publication // of this side's buffer

	// The other side's buffer: one of the two is set.
	mapped  []byte
	process *crossmem.Peer
	address crossmem.Address
}

// span is a piece as a range of bytes.
func (j *copyJob) span(piece int) (from, to int64) {
	from = int64(piece) * j.piece
	return from, min(from+j.piece, j.bytes)
}

// offer makes the word of a message to a rank that shares memory, and tells the
// receiver what it needs.
func (m *Messages) offer(r *Request, p *rendezvous.ReadyPacket) error {
	m.mu.Lock()
	w, err := m.words.take()
	m.mu.Unlock()
	if err != nil {
		return err
	}
	r.word = w
	p.Word, p.Generation = w.place, w.load().Generation()
	p.Address = uint64(r.copy.memory.Publish(r.data))
	if at, ok := m.cfg.Memory.Locate(r.data); ok {
		p.Memory = at
	}
	return nil
}

// recall takes back what offer gave. Nobody copies any more.
func (m *Messages) recall(r *Request) {
	r.copy.memory.Withdraw()
	if r.word == nil {
		return
	}
	m.mu.Lock()
	m.words.give(r.word)
	m.stages.learn(r.world, r.word)
	m.mu.Unlock()
	r.word = nil
}

// copyOut is a sender's step: it copies pieces as long as there are any. false: the
// word says nothing, as the receiver has chosen another way.
func (m *Messages) copyOut(r *Request) bool {
	w := r.word
	s := w.load()
	if !s.Opened() {
		if s.Outcome(0) == rendezvous.Pending {
			return false
		}
		m.settle(r, s.Outcome(0))
		return true
	}
	if !w.opened {
		w.opened = true
		m.readOffer(r)
	}
	if w.helps {
		m.copyPieces(r)
	}
	if o := w.load().Outcome(w.total); o != rendezvous.Pending {
		m.answer(r.world, rendezvous.DonePacket{ID: w.fields[offerAt+7], Outcome: o}.Append(nil))
		m.settle(r, o)
	}
	return true
}

// readOffer learns how to reach the receiver's buffer. What makes no sense leaves
// the work to the receiver.
func (m *Messages) readOffer(r *Request) {
	w, j := r.word, &r.copy
	f := w.fields[offerAt:]
	w.total, j.bytes, j.piece = int(f[0]), int64(f[1]), int64(f[2])
	if j.piece <= 0 || j.bytes < 0 || j.bytes > int64(len(r.data)) || w.total != pieces(j.bytes, j.piece) {
		j.bytes = 0
		return
	}
	if f[6] != 0 {
		mem, err := m.cfg.Memory.At(r.world, rendezvous.Place{Key: f[4], Offset: int64(f[5]), Len: j.bytes})
		j.mapped, w.helps = mem, err == nil
		return
	}
	j.address = crossmem.Address(f[3])
	j.process = m.peer(r.world, w.fields[offerCard:])
	w.helps = j.process != nil
}

func pieces(bytes, piece int64) int { return int((bytes + piece - 1) / piece) }

// copyPieces copies all pieces that can be claimed.
func (m *Messages) copyPieces(r *Request) {
	for {
		piece, ok := r.word.claim()
		if !ok {
			return
		}
		from, to := r.copy.span(piece)
		r.word.finish(r.copyPiece(r.data[from:to], from) == nil)
	}
}

func (r *Request) copyPiece(own []byte, from int64) error {
	j := &r.copy
	switch {
	case j.mapped != nil && r.send:
		copying.Copy(j.mapped[from:from+int64(len(own))], own)
	case j.mapped != nil:
		copying.Copy(own, j.mapped[from:from+int64(len(own))])
	case r.send:
		return j.process.Write(j.address.Plus(int(from)), own)
	default:
		return j.process.Read(own, j.address.Plus(int(from)))
	}
	return nil
}

// settle ends a send that has an outcome. Parts that were asked for and not Put are
// refused.
func (m *Messages) settle(r *Request, o rendezvous.Outcome) { m.endSend(r, r.cause(o)) }

func (m *Messages) endSend(r *Request, err error) {
	m.recall(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range r.clears {
		m.answer(r.world, rendezvous.DonePacket{ID: p.Receiver, Outcome: rendezvous.Withdrawn}.Append(nil))
	}
	r.clears = nil
	r.end(Status{}, err)
}

// openCopy is a receiver's first step. false: this side cannot copy.
func (m *Messages) openCopy(r *Request, a *arrival) bool {
	mem, err := m.cfg.Memory.At(a.from, a.ready.Word)
	if err != nil || len(mem) < wordBytes || !aligned(mem) {
		return false
	}
	w := wordOver(mem, a.ready.Word)
	if !w.match(a.ready.Generation) {
		m.rematch(r, a)
		return true
	}
	if !m.reachSender(r, a, w) {
		w.release()
		return false
	}
	r.copy.bytes = min(int64(len(r.data)), a.ready.Length)
	r.copy.piece = int64(pieceOf(int(r.copy.bytes)))
	w.total = pieces(r.copy.bytes, r.copy.piece)
	m.writeOffer(r, w)
	if !w.open() {
		w.release()
		m.rematch(r, a)
		return true
	}
	r.word, w.helps = w, true
	if r.givenUp != nil {
		w.change(rendezvous.State.Abandon)
	}
	m.copyIn(r, a)
	return true
}

// reachSender finds out how to read the sender's buffer.
func (m *Messages) reachSender(r *Request, a *arrival, w *word) bool {
	j := &r.copy
	if a.ready.Memory.Len > 0 {
		if mem, err := m.cfg.Memory.At(a.from, a.ready.Memory); err == nil {
			j.mapped = mem
			return true
		}
	}
	if a.ready.Address == 0 {
		return false
	}
	j.address = crossmem.Address(a.ready.Address)
	j.process = m.peer(a.from, w.fields[cardAt:])
	return j.process != nil
}

// writeOffer tells the sender how it can help.
func (m *Messages) writeOffer(r *Request, w *word) {
	f := w.fields[offerAt:]
	f[0], f[1], f[2] = uint64(w.total), uint64(r.copy.bytes), uint64(r.copy.piece)
	f[3] = uint64(r.copy.memory.Publish(r.data))
	f[6], f[7] = 0, r.idNow()
	if p, ok := m.cfg.Memory.Locate(r.data); ok {
		f[4], f[5], f[6] = p.Key, uint64(p.Offset), 1
	}
	w.fields[offerCard], w.fields[offerCard+1], w.fields[offerCard+2] = m.card()
}

// rematch finds r another message: the sender has withdrawn this one.
func (m *Messages) rematch(r *Request, a *arrival) {
	m.leaveBeginning(a)
	r.copy.memory.Withdraw()
	r.copy, r.from = copyJob{}, -1
	m.mu.Lock()
	m.requests.remove(r)
	r.incoming, r.answers, r.verdict = nil, 0, rendezvous.Pending
	m.copies.give(a)
	if r.givenUp != nil {
		r.end(Status{}, r.givenUp)
	} else {
		m.match(r)
	}
	m.mu.Unlock()
}

// copyIn is a receiver's step.
func (m *Messages) copyIn(r *Request, a *arrival) {
	m.copyPieces(r)
	w := r.word
	o := w.load().Outcome(w.total)
	if o == rendezvous.Pending {
		return
	}
	w.release()
	r.word = nil
	r.copy.memory.Withdraw()
	m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: o}.Append(nil))
	m.received(r, a, o)
}

// received ends a receive of an announced message.
func (m *Messages) received(r *Request, a *arrival, o rendezvous.Outcome) {
	m.leaveBeginning(a)
	s := Status{Source: a.source, Tag: a.tag}
	err := r.cause(o)
	if err == nil {
		s.Bytes = min(int64(len(r.data)), a.ready.Length)
		if a.ready.Length > int64(len(r.data)) {
			err = &TruncatedError{Source: a.source, Tag: a.tag, Length: a.ready.Length, Room: len(r.data)}
		}
	}
	m.mu.Lock()
	r.incoming = nil
	m.copies.give(a)
	r.end(s, err)
	m.mu.Unlock()
}
