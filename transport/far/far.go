package far

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A Far is the way of one rank to ranks of other hosts. [Open] makes it.
type Far struct {
	tcp   transport.Endpoint // nil: devices are insisted on
	verbs transport.Endpoint // nil: there is no device, or it is not wanted
	paths []atomic.Int32     // to each rank, once its address was seen
	cut   []atomic.Bool      // ranks that were severed
}

// A Path is how a rank of another host is reached.
type Path int

const (
	Unknown Path = iota // its address was not seen yet
	TCP
	Verbs // by an RDMA device
)

// String is the word for it that users see and type.
func (p Path) String() string { return [...]string{"", "tcp", "verbs"}[p] }

func newFar(size int) *Far {
	return &Far{paths: make([]atomic.Int32, size), cut: make([]atomic.Bool, size)}
}

// Ends are those endpoints that there are, which whoever opened the Far polls.
func (f *Far) Ends() iter.Seq2[Path, transport.Endpoint] {
	return func(yield func(Path, transport.Endpoint) bool) {
		if f.verbs != nil && !yield(Verbs, f.verbs) {
			return
		}
		if f.tcp != nil {
			yield(TCP, f.tcp)
		}
	}
}

// End is the endpoint of a path, nil if there is none.
func (f *Far) End(path Path) transport.Endpoint {
	switch path {
	case TCP:
		return f.tcp
	case Verbs:
		return f.verbs
	}
	return nil
}

// HasDevice reports whether ranks that have an RDMA device are reached by this one's.
func (f *Far) HasDevice() bool { return f.verbs != nil }

// Choose is how a rank with this address is reached. It is an error when that is not
// possible. An address is always chosen for in the same way.
func (f *Far) Choose(rank int, addr []byte) (Path, error) {
	path, _, err := f.choose(rank, addr)
	return path, err
}

// choose also returns the address of the endpoint at that end of the path.
func (f *Far) choose(rank int, addr []byte) (path Path, at []byte, err error) {
	verbs, tcp, err := split(addr)
	switch {
	case err != nil:
		return Unknown, nil, err
	case f.verbs != nil && len(verbs) > 0:
		path, at = Verbs, verbs
	case f.tcp != nil && len(tcp) > 0:
		path, at = TCP, tcp
	default:
		return Unknown, nil, errors.New("one of the two has no RDMA device, and no other transport is to be used")
	}
	f.paths[rank].Store(int32(path))
	return path, at, nil
}

// Path is how a rank is reached, as far as that is known.
func (f *Far) Path(rank int) Path { return Path(f.paths[rank].Load()) }

// Usual is the path to those ranks that have what this one has.
func (f *Far) Usual() Path {
	if f.verbs != nil {
		return Verbs
	}
	return TCP
}

// Dial connects to a rank. Completions of the connection come out of the endpoint at its
// path.
func (f *Far) Dial(ctx context.Context, rank int, addr []byte) (transport.Conn, error) {
	path, at, err := f.choose(rank, addr)
	if err != nil {
		return nil, err
	}
	if path == Verbs {
		return f.verbs.Dial(ctx, rank, at)
	}
	return f.tcp.Dial(ctx, rank, at)
}

// keyed is an endpoint that registers memory under a key of another one's.
type keyed interface {
	RegisterAs(key uint64, mem []byte) (transport.Region, error)
}

// Register makes memory accessible to ranks of other hosts, however they are reached. It
// does not look at key and offset.
func (f *Far) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
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

// Sever returns when nothing that a rank, which is gone, has put can arrive any more.
func (f *Far) Sever(rank int) {
	if s, ok := f.verbs.(severer); ok && !f.cut[rank].Load() {
		s.Sever(rank)
		f.cut[rank].Store(true)
	}
}

// Close ends what is under way.
func (f *Far) Close() (err error) {
	for _, e := range f.Ends() {
		err = errors.Join(err, e.Close())
	}
	return err
}
