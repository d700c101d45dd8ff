package shm

import (
	"errors"

	"github.com/golaunch/golaunch/transport"
)

// A peer is all that the connections to one rank share.
type peer struct {
	rank     int
	endpoint *endpoint
	control  control // the peer's
	views    views
	out      outbox
}

// memory returns the n bytes that r begins with, mapped here.
func (p *peer) memory(r transport.Remote, n int) ([]byte, error) {
	v := p.views.cached(r.Key)
	if v == nil {
		var err error
		if v, err = p.find(r.Key); err != nil {
			return nil, err
		}
	}
	return v.within(r, n)
}

func (p *peer) find(key uint64) (*view, error) {
	v, err := p.views.resolve(p, key)
	if errors.Is(err, transport.ErrKey) && p.control.closed() {
		return nil, transport.ErrClosed
	}
	return v, err
}
