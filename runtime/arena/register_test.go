package arena

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golaunch/golaunch/transport"
)

// registrations is a Registrar for tests: it says what is registered.
type registrations struct {
	open  map[*registration]bool
	calls int
	fail  error
}

type registration struct {
	of     *registrations
	remote transport.Remote
	mem    []byte
}

func (r *registrations) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
	if r.fail != nil {
		return nil, r.fail
	}
	r.calls++
	n := &registration{r, transport.Remote{Key: key<<32 | uint64(r.calls), Offset: offset, Len: int64(len(mem))}, mem}
	r.open[n] = true
	return n, nil
}

func (n *registration) Remote() transport.Remote { return n.remote }
func (n *registration) Close() error             { delete(n.of.open, n); return nil }

func newRegistrations() *registrations { return &registrations{open: map[*registration]bool{}} }

func (r *registrations) bytes() (n int64) {
	for o := range r.open {
		n += o.remote.Len
	}
	return n
}

func TestPreRegistration(t *testing.T) {
	r := newRegistrations()
	a := New(Config{})
	early := mustAlloc[byte](t, a, 100)
	if _, ok := a.Remote(early); ok {
		t.Error("registered before Register")
	}
	if err := a.Register(r); err != nil {
		t.Fatal(err)
	}
	late := mustAlloc[byte](t, a, 5<<20)
	for _, mem := range [][]byte{early, late, late[77:100]} {
		got, ok := a.Remote(mem)
		at, _ := a.Locate(mem)
		if !ok || got.Key>>32 != at.Key || got.Offset != at.Offset || got.Len != int64(len(mem)) {
			t.Errorf("%+v, %v; it lies at %+v", got, ok, at)
		}
	}
	if _, ok := a.Remote(make([]byte, 10)); ok {
		t.Error("the Go heap is registered")
	}
	mustFree(t, a, late)
	calls := r.calls
	for range 1000 {
		mustFree(t, a, mustAlloc[byte](t, a, 5<<20-100))
		mustFree(t, a, mustAlloc[byte](t, a, 50))
	}
	if r.calls != calls {
		t.Errorf("%d registrations in the steady state", r.calls-calls)
	}
	if u := a.Usage(); u.Registered != r.bytes() || u.Registered != u.Populated || u.Registrations != uint64(r.calls) || u.Registering <= 0 {
		t.Errorf("%d bytes are registered: %+v", r.bytes(), u)
	}
	if err := a.Register(r); !errors.Is(err, ErrRegistered) {
		t.Errorf("once more: %v", err)
	}
	if err := a.Close(); err != nil || len(r.open) != 0 {
		t.Errorf("%v, %d registrations left", err, len(r.open))
	}
}

// No page that is registered leaves its file.
func TestPagesAreDeregisteredFirst(t *testing.T) {
	r := newRegistrations()
	a := newArena(t, Config{})
	if err := a.Register(r); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{100, 3 << 20, 9 << 20} {
		mustFree(t, a, mustAlloc[byte](t, a, n))
	}
	if _, err := a.Relieve(); err != nil {
		t.Fatal(err)
	}
	if u := a.Usage(); len(r.open) != 0 || u.Registered != 0 || u.Populated != 0 {
		t.Errorf("%d registrations, %+v", len(r.open), u)
	}
	mem := mustAlloc[byte](t, a, 9<<20)
	if got, ok := a.Remote(mem); !ok || len(r.open) != 1 {
		t.Errorf("awake again: %+v, %v, %d registrations", got, ok, len(r.open))
	}
}

var errMemlock = errors.New("cannot pin: RLIMIT_MEMLOCK")

// A transport that can register no more is pressure: what is free is given up for it.
func TestRegistrationPressure(t *testing.T) {
	limited := &limitedRegistrar{registrations: newRegistrations(), limit: 20 << 20}
	a := newArena(t, Config{Rank: 4})
	if err := a.Register(limited); err != nil {
		t.Fatal(err)
	}
	for _, mib := range []int{10, 12, 16} {
		mustFree(t, a, mustAlloc[byte](t, a, mib<<20))
	}
	kept := mustAlloc[byte](t, a, 16<<20)
	before := resources(t)
	for range 5 {
		_, err := Alloc[byte](a, 7<<20)
		if !errors.Is(err, errMemlock) || !strings.Contains(err.Error(), "rank 4: arena: ") || !strings.Contains(err.Error(), ", 7.0 MiB beside 16.0 MiB that are registered: ") {
			t.Errorf("%v", err)
		}
	}
	if after := resources(t); after.descriptors > before.descriptors+2 {
		t.Errorf("each refusal leaves something behind: %+v, before %+v", after, before)
	}
	if u := a.Usage(); u.Registered != limited.bytes() {
		t.Errorf("%d bytes are registered: %+v", limited.bytes(), u)
	}
	mustFree(t, a, kept)
	mustAlloc[byte](t, a, 7<<20)
}

// What can be registered is made, although the ordinary segment could not be.
func TestRegistrationOfWhatIsNeeded(t *testing.T) {
	limited := &limitedRegistrar{registrations: newRegistrations(), limit: 40 << 20}
	a := newArena(t, Config{})
	if err := a.Register(limited); err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for range 5 {
		all = append(all, mustAlloc[byte](t, a, 7<<20))
	}
	for _, mem := range all {
		if _, ok := a.Remote(mem); !ok {
			t.Error("not registered")
		}
	}
}

type limitedRegistrar struct {
	*registrations
	limit int64
}

func (r *limitedRegistrar) Register(key uint64, offset int64, mem []byte) (transport.Region, error) {
	if r.bytes()+int64(len(mem)) > r.limit {
		return nil, errMemlock
	}
	return r.registrations.Register(key, offset, mem)
}

func TestRegisterFails(t *testing.T) {
	r := newRegistrations()
	r.fail = errMemlock
	a := newArena(t, Config{})
	mem := mustAlloc[byte](t, a, 100)
	if err := a.Register(r); !errors.Is(err, errMemlock) {
		t.Fatal(err)
	}
	mustAlloc[byte](t, a, 4<<20)
	if _, ok := a.Remote(mem); ok {
		t.Error("it failed, and is registered")
	}
	r.fail = nil
	if err := a.Register(r); err != nil || a.Usage().Registered != a.Usage().Populated {
		t.Errorf("%v, %+v", err, a.Usage())
	}
}

// Remote and Alloc while segments come, sleep and wake.
func TestRemoteWhileSegmentsChange(t *testing.T) {
	a := newArena(t, Config{})
	if err := a.Register(newRegistrations()); err != nil {
		t.Fatal(err)
	}
	mem := mustAlloc[byte](t, a, 4096)
	want, _ := a.Remote(mem)
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			if got, ok := a.Remote(mem); !ok || got != want {
				t.Errorf("%+v, %v", got, ok)
				return
			}
		}
	}()
	for began := time.Now(); time.Since(began) < 100*time.Millisecond; {
		mustFree(t, a, mustAlloc[byte](t, a, 2<<20))
		if _, err := a.Relieve(); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	<-done
}
