package tcp

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// A landing is a transport.Landing for one peer. Its Puts are one frame each. Redirect
// acts on the frame under way: what of it has not come is then read to the new place.
//
// Guarded by the peer's receiver.mu, which is held while a frame is read, too.
type landing struct {
	peer   *peer
	remote transport.Remote
	mem    []byte
	begun  uint64 // payloads
	next   []byte // where the next one goes; nil: mem
	at     []byte // where the last one goes
}

// landingKey marks the keys of landings. Other regions have none so large.
const landingKey = 1 << 63

// Land makes a landing for the Puts of a rank.
func (e *endpoint) Land(rank int, mem []byte) (transport.Landing, error) {
	l := &landing{peer: e.peerAt(rank), mem: mem}
	err := transport.ErrClosed
	switch {
	case l.peer.self:
		err = errNoFrames
	case len(mem) > e.pieceBytes:
		err = transport.ErrTooLong
	case e.regions.land(l):
		return l, nil
	}
	return nil, fmt.Errorf("tcp: rank %d: a landing of %d bytes for rank %d: %w", e.cfg.Rank, len(mem), rank, err)
}

var errNoFrames = errors.New("a rank sends itself no frames")

func (r *regions) land(l *landing) (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return false
	}
	if r.landings == nil {
		r.landings = make(map[uint64]*landing)
	}
	r.lastLanding++
	l.remote = transport.Remote{Key: landingKey | r.lastLanding, Len: int64(len(l.mem))}
	r.landings[l.remote.Key] = l
	return true
}

// landing returns the landing with a key, if it is p's. Called with p.rx.mu held.
func (r *regions) landing(p *peer, key uint64) *landing {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if l := r.landings[key]; l != nil && l.peer == p {
		return l
	}
	return nil
}

// Remote is where the peer Puts to.
func (l *landing) Remote() transport.Remote { return l.remote }

// Close ends the landing for frames that arrive later.
func (l *landing) Close() error {
	r := &l.peer.e.regions
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.landings, l.remote.Key)
	return nil
}

// begin returns where a payload goes that begins. A peer that was told where it goes
// sends as much as it had said.
func (l *landing) begin(h *wire.Header) ([]byte, error) {
	to := l.next
	if l.next = nil; to == nil {
		to = l.mem[:min(len(l.mem), int(h.Length))]
	}
	if h.Offset != 0 || len(to) != int(h.Length) {
		return nil, fmt.Errorf("a Put of %d bytes at %d to a landing for %d", h.Length, h.Offset, len(to))
	}
	l.begun++
	l.at = to
	return to, nil
}

// Redirect is the Landing's.
func (l *landing) Redirect(number uint64, to []byte) bool {
	r := &l.peer.rx
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.begun < number {
		l.next = to
		return true
	}
	rest := r.reader.Place()
	if l.begun > number || len(to) != len(l.at) || len(rest) == 0 || !l.isUnderWay() {
		return false
	}
	got := len(to) - len(rest)
	wire.Copy(to[:got], l.at[:got])
	r.reader.Move(to[got:])
	l.at = to
	return true
}

func (l *landing) isUnderWay() bool {
	key, inside := l.peer.rx.reader.PutUnderWay()
	return inside && key == l.remote.Key
}
