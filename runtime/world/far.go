package world

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/world/router"
	"github.com/golaunch/golaunch/transport"
)

// A far is this rank's way to ranks of other hosts: by TCP, by an RDMA device, or by
// either. Two ranks use their devices if both have one, else TCP. Each sees that from
// the other's address, so they agree without asking, and a rank without a device
// keeps no others from using theirs.
//
// Memory has the same key for both transports: who learns of a Remote need not know
// which of them its owner is reached by.
type far struct {
	tcp   transport.Endpoint // nil: devices are insisted on
	verbs transport.Endpoint // nil: there is no device, or it is not wanted
	paths []atomic.Int32     // to each rank, once its address was seen; 0: not yet
	cut   []atomic.Bool      // ranks that were severed
}

// keyed is an endpoint that registers memory under a key of another one's.
type keyed interface {
	RegisterAs(key uint64, mem []byte) (transport.Region, error)
}

// ends are those endpoints that there are.
func (f *far) ends() (all []transport.Endpoint) {
	for _, e := range []transport.Endpoint{f.verbs, f.tcp} {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// The address of a far: the length of that of its device's endpoint (1 byte), which
// is 0 if there is none, that address, and the one of TCP.

// Addr is the address, of at most room bytes. Where both do not fit, a host with very
// many interfaces, it is TCP's alone.
func (f *far) Addr(room int) []byte {
	var verbs, tcp []byte
	if f.verbs != nil {
		verbs = f.verbs.Addr()
	}
	if f.tcp != nil {
		tcp = f.tcp.Addr()
	}
	if tcp != nil && 1+len(verbs)+len(tcp) > room {
		verbs = nil
	}
	return append(append([]byte{byte(len(verbs))}, verbs...), tcp...)
}

func splitFar(b []byte) (verbs, tcp []byte, err error) {
	if len(b) == 0 || 1+int(b[0]) > len(b) {
		return nil, nil, fmt.Errorf("an address for other hosts of %d bytes makes no sense", len(b))
	}
	n := 1 + int(b[0])
	return b[1:n:n], b[n:], nil
}

// choose is how a rank with this address is reached, and where.
func (f *far) choose(rank int, addr []byte) (path int, at []byte, err error) {
	verbs, tcp, err := splitFar(addr)
	switch {
	case err != nil:
		return 0, nil, err
	case f.verbs != nil && len(verbs) > 0:
		path, at = router.Verbs, verbs
	case f.tcp != nil && len(tcp) > 0:
		path, at = router.TCP, tcp
	default:
		return 0, nil, errors.New("one of the two ranks has no RDMA device, and no other transport is to be used")
	}
	f.paths[rank].Store(int32(path))
	return path, at, nil
}

// Dial connects to a rank.
func (f *far) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	path, at, err := f.choose(rank, addr)
	if err != nil {
		return nil, err
	}
	if path == router.Verbs {
		return f.verbs.Dial(ctx, rank, at)
	}
	return f.tcp.Dial(ctx, rank, at)
}

// usual is the path to those ranks that have what this one has.
func (f *far) usual() int {
	if f.verbs != nil {
		return router.Verbs
	}
	return router.TCP
}

// serves reports whether a rank is known to be reached by a path.
func (f *far) serves(path, rank int) bool { return int(f.paths[rank].Load()) == path }

// Register makes memory accessible to ranks of other hosts, however they are reached.
func (f *far) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
	if f.verbs == nil {
		return f.tcp.Register(key, offset, mem)
	}
	r, err := f.verbs.Register(key, offset, mem)
	if err != nil || f.tcp == nil {
		return r, err
	}
	also, err := f.tcp.(keyed).RegisterAs(r.Remote().Key, mem)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return twice{r, also}, nil
}

// twice is memory that is registered with two transports.
type twice struct {
	transport.Region
	also transport.Region
}

func (t twice) Close() error { return errors.Join(t.also.Close(), t.Region.Close()) }

// A severer is an endpoint that can end what a rank that is gone may have under way to
// this rank's memory.
type severer interface{ Sever(rank int) }

// sever returns when nothing that a rank, which is gone, has put can arrive any more.
func (f *far) sever(rank int) {
	if s, ok := f.verbs.(severer); ok && !f.cut[rank].Load() {
		s.Sever(rank)
		f.cut[rank].Store(true)
	}
}

// Close ends what is under way.
func (f *far) Close() (err error) {
	for _, e := range f.ends() {
		err = errors.Join(err, e.Close())
	}
	return err
}
