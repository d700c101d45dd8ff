//go:build cgo && linux

package verbs

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
)

// A region is registered memory of this rank.
type region struct {
	endpoint *endpoint
	remote   transport.Remote
	memory   *memory // nil: of no bytes
	once     sync.Once
	err      error
}

// Register has the device know mem. It does not look at key and offset.
func (e *endpoint) Register(_ uint64, _ int64, mem []byte) (transport.Region, error) {
	r, err := e.register(mem)
	if err != nil {
		return nil, fmt.Errorf("verbs: rank %d: register %d bytes: %w", e.cfg.Rank, len(mem), err)
	}
	return r, nil
}

func (e *endpoint) register(mem []byte) (*region, error) {
	r := &region{endpoint: e, remote: transport.Remote{Len: int64(len(mem))}}
	err := e.local.add(e, func() (m *memory, err error) {
		var rkey uint32
		if len(mem) > 0 {
			if m, err = e.domain.register(mem, true); err != nil {
				return nil, err
			}
			rkey = m.rkey
		}
		r.memory = m
		r.remote.Key, err = e.directory.add(addressOf(mem), uint64(len(mem)), rkey)
		if err != nil && m != nil {
			err = errors.Join(err, m.close())
		}
		return m, err
	})
	return r, err
}

func (r *region) Remote() transport.Remote { return r.remote }

// Close takes the region out of the directory, tells the peers and has their devices'
// word that they know, and only then has this rank's device forget it. Operations that
// are under way then end the connection they are on. Closing again does nothing; nor
// does closing after the endpoint.
func (r *region) Close() error {
	r.once.Do(func() {
		e := r.endpoint
		if e.closed.Load() {
			return
		}
		e.directory.remove(r.remote.Key)
		e.tellCloses()
		if r.memory != nil {
			r.err = e.local.remove(r.memory)
		}
	})
	if r.err != nil {
		return fmt.Errorf("verbs: rank %d: close region %#x: %w", r.endpoint.cfg.Rank, r.remote.Key, r.err)
	}
	return nil
}

// tellCloses returns when every peer's device has the count of closed regions.
func (e *endpoint) tellCloses() {
	all := e.incoming()
	told := make([]uint64, len(all))
	for i, t := range all {
		told[i] = t.tellCloses()
	}
	for i, t := range all {
		t.await(told[i])
	}
}

// locals is this rank's registered memory, by address: what lies in it needs no bounce
// buffer.
type locals struct {
	mu     sync.Mutex
	closed bool
	sorted atomic.Pointer[[]*memory]
}

// add registers memory unless the endpoint is closed.
func (l *locals) add(e *endpoint, register func() (*memory, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.closed.Load() || l.closed {
		return transport.ErrClosed
	}
	m, err := register()
	if err != nil || m == nil {
		return err
	}
	all := l.all()
	at, _ := slices.BinarySearchFunc(all, m.address(), compareAddress)
	all = slices.Insert(slices.Clone(all), at, m)
	l.sorted.Store(&all)
	return nil
}

func compareAddress(m *memory, address uint64) int {
	switch {
	case m.address() < address:
		return -1
	case m.address() > address:
		return 1
	}
	return 0
}

func (l *locals) all() []*memory {
	if all := l.sorted.Load(); all != nil {
		return *all
	}
	return nil
}

// remove deregisters m, unless closeAll has done so.
func (l *locals) remove(m *memory) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.all(), m)
	if at < 0 {
		return nil
	}
	all := slices.Delete(slices.Clone(l.all()), at, at+1)
	l.sorted.Store(&all)
	return m.close()
}

// find returns the key under which the device knows all of mem.
func (l *locals) find(mem []byte) (lkey uint32, ok bool) {
	all := l.all()
	start := addressOf(mem)
	at, exact := slices.BinarySearchFunc(all, start, compareAddress)
	if !exact {
		at--
	}
	if at < 0 || start+uint64(len(mem)) > all[at].address()+uint64(len(all[at].mem)) {
		return 0, false
	}
	return all[at].lkey, true
}

func (l *locals) closeAll() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, m := range l.all() {
		err = errors.Join(err, m.close())
	}
	l.sorted.Store(nil)
	return err
}
