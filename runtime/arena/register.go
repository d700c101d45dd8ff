package arena

import (
	"errors"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/runtime/memlimit"
	"github.com/golaunch/golaunch/transport"
)

// A Registrar makes memory accessible to peers. A transport's Endpoint is one.
type Registrar interface {
	// Register is transport.Endpoint's: mem begins at offset in the segment key.
	Register(key uint64, offset int64, mem []byte) (transport.Region, error)
}

// ErrRegistered: Register was called before.
var ErrRegistered = errors.New("the arena is registered already")

// Register has r register every segment whole, those there are now and each further
// one when it is made, before memory of it is handed out. From then on Remote
// answers for all memory of Alloc, and no Alloc that finds memory calls r. A NIC pins
// what is registered, so segments are populated whole, too.
//
// r is called with Arena.growing held: it must not allocate from the arena. It is
// used until Close. On an error nothing is registered.
func (a *Arena) Register(r Registrar) error {
	a.growing.Lock()
	defer a.growing.Unlock()
	if a.registrar != nil {
		return a.errorf("registering: %w", ErrRegistered)
	}
	a.registrar = r
	for _, s := range a.awake() {
		if err := a.fillAndRegister(s); err != nil {
			return errors.Join(err, a.deregisterAll())
		}
	}
	return nil
}

func (a *Arena) awake() []*segment {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []*segment
	for _, s := range a.segments {
		if s.ready > 0 {
			all = append(all, s)
		}
	}
	return all
}

func (a *Arena) fillAndRegister(s *segment) error {
	if whole := int64(len(s.mem)); s.ready < whole {
		add, err := a.advance(s, whole, whole)
		if err != nil {
			return a.errorf("populating segment %d: %w", s.key, err)
		}
		a.mu.Lock()
		add()
		a.mu.Unlock()
	}
	return a.register(s)
}

// register registers a populated segment, if there is a registrar. growing is held.
func (a *Arena) register(s *segment) error {
	if a.registrar == nil {
		return nil
	}
	began := time.Now()
	region, err := a.registrar.Register(s.key, 0, s.mem)
	if err != nil {
		return a.errorf("registering segment %d, %s beside %s that are registered: %w",
			s.key, memlimit.Bytes(int64(len(s.mem))), memlimit.Bytes(a.Usage().Registered), err)
	}
	s.region = region
	a.mu.Lock()
	defer a.mu.Unlock()
	a.table.Store(a.table.Load().registered(s))
	a.usage.Registrations++
	a.usage.Registered += int64(len(s.mem))
	a.usage.Registering += time.Since(began)
	return nil
}

// deregister ends a segment's registration, if it has one. growing is held.
func (a *Arena) deregister(s *segment) error {
	if s.region == nil {
		return nil
	}
	began := time.Now()
	err := s.deregister()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.table.Store(a.table.Load().registered(s))
	a.usage.Registered -= int64(len(s.mem))
	a.usage.Registering += time.Since(began)
	return err
}

func (s *segment) deregister() error {
	if s.region == nil {
		return nil
	}
	region := s.region
	s.region = nil
	if err := region.Close(); err != nil {
		return fmt.Errorf("ending the registration of segment %d: %w", s.key, err)
	}
	return nil
}

func (a *Arena) deregisterAll() error {
	a.registrar = nil
	var err error
	for _, s := range a.awake() {
		err = errors.Join(err, a.deregister(s))
	}
	return err
}

// Remote is what peers need in order to reach mem: its place in the registration of
// its segment. false: it is not memory of this arena, or not registered. It takes no
// lock, calls no driver, and takes a few nanoseconds.
func (a *Arena) Remote(mem []byte) (transport.Remote, bool) {
	t := a.table.Load()
	at, ok := t.find(start(mem), uintptr(len(mem)))
	if !ok {
		return transport.Remote{}, false
	}
	r := t.remotes[at.Key-1]
	return transport.Remote{Key: r.Key, Offset: r.Offset + at.Offset, Len: int64(len(mem))}, r.Len > 0
}
