package arena

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// A model is the simplest arena: the list of what is handed out, each filled with
// a byte of its own.
type model struct {
	t    *testing.T
	a    *Arena
	rng  *rand.Rand
	live []owned
	next byte

	registered bool
}

type owned struct {
	mem  []byte
	fill byte
}

func (m *model) alloc(n int) {
	s, err := Alloc[byte](m.a, n)
	if err != nil {
		m.t.Fatal(err)
	}
	if !all(s, 0) {
		m.t.Fatalf("%d bytes are not all zero", n)
	}
	if r, ok := m.a.Remote(s); ok != m.registered || ok && r.Len != int64(n) {
		m.t.Fatalf("%d bytes: registered is %v, %+v", n, ok, r)
	}
	align := uintptr(lineAlign)
	if n >= os.Getpagesize() {
		align = uintptr(os.Getpagesize())
	}
	if start(s)%align != 0 {
		m.t.Fatalf("%d bytes at %#x", n, start(s))
	}
	m.next = m.next%255 + 1
	m.live = append(m.live, owned{s, m.next})
	fill(s, m.next)
}

// all reports whether every byte of s, which is not empty, is v.
func all(s []byte, v byte) bool { return s[0] == v && bytes.Equal(s[1:], s[:len(s)-1]) }

func fill(s []byte, v byte) {
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// free checks that nobody else wrote into the extent: none overlaps it.
func (m *model) free(i int) {
	o := m.live[i]
	if !all(o.mem, o.fill) {
		m.t.Fatalf("somebody else wrote into %d bytes", len(o.mem))
	}
	if err := Free(m.a, o.mem); err != nil {
		m.t.Fatal(err)
	}
	if err := Free(m.a, o.mem); err == nil {
		m.t.Fatal("freed twice")
	}
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
}

// size is small most of the time, up to 4 MiB, and often next to a boundary.
func (m *model) size() int {
	n := 1 << m.rng.IntN(23)
	switch m.rng.IntN(3) {
	case 0:
		return n
	case 1:
		return n + m.rng.IntN(3) - 1 + m.rng.IntN(2)
	}
	return 1 + m.rng.IntN(n)
}

// checkUsage compares the figures with the model's.
func (m *model) checkUsage() {
	u := m.a.Usage()
	var want int64
	for _, o := range m.live {
		want += m.a.classes.of(int64(len(o.mem))).size
	}
	if u.InUse != want || u.Populated > u.Mapped || u.InUse+u.Free+u.Quarantined > u.Populated ||
		m.registered && u.Registered != u.Populated {
		m.t.Fatalf("%d bytes are in use, %+v", want, u)
	}
}

// disturb puts all freed memory under holds now and then, ends them later, and
// gives back what is free.
func (m *model) disturb(step int) {
	name := HoldName{Context: 1, Number: uint64(step / 200)}
	switch step % 200 {
	case 20:
		m.a.Hold(name, []int{1, 2}, true)
	case 50:
		m.a.Confirm(name, 1)
	case 100:
		m.a.Confirm(name, 2)
	case 70, 120:
		if _, err := m.a.Relieve(); err != nil {
			m.t.Fatal(err)
		}
	}
}

func TestModel(t *testing.T) {
	for seed := range uint64(6) {
		m := &model{t: t, a: newArena(t, Config{}), rng: rand.New(rand.NewPCG(seed, 1))}
		if m.registered = seed%2 == 1; m.registered {
			if err := m.a.Register(newRegistrations()); err != nil {
				t.Fatal(err)
			}
		}
		for step := range 1500 {
			switch {
			case m.rng.IntN(100) < 48+8*(step/300%2) && len(m.live) < 60:
				m.alloc(max(1, m.size()))
			case len(m.live) > 0:
				m.free(m.rng.IntN(len(m.live)))
			}
			m.disturb(step)
			m.checkUsage()
		}
		for len(m.live) > 0 {
			m.free(0)
		}
		m.checkUsage()
		t.Logf("seed %d: %+v", seed, m.a.Usage())
	}
}

// Goroutines allocate, write, check and free at once, and look their memory up
// while the table of segments changes. The race detector watches the rest.
func TestConcurrent(t *testing.T) {
	b := &sync.Mutex{}
	outstanding := int64(0)
	a := newArena(t, Config{Reserve: func(n int64) (func(), error) {
		b.Lock()
		defer b.Unlock()
		outstanding += n
		return func() { b.Lock(); defer b.Unlock(); outstanding -= n }, nil
	}})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() { worker(t, a, uint64(g)) })
	}
	all.Wait()
	if u := a.Usage(); u.InUse != 0 || outstanding != 0 {
		t.Errorf("%+v, %d bytes reserved", u, outstanding)
	}
}

func worker(t *testing.T, a *Arena, id uint64) {
	rng := rand.New(rand.NewPCG(id, 2))
	var live [][]uint64
	for range 400 {
		s, err := Alloc[uint64](a, 1+rng.IntN(1<<rng.IntN(16)))
		if err != nil {
			t.Error(err)
			return
		}
		if _, ok := Where(a, s); !ok {
			t.Error("own memory was not located")
		}
		for i := range s {
			if s[i] != 0 {
				t.Errorf("element %d is %d", i, s[i])
				return
			}
			s[i] = id
		}
		if live = append(live, s); len(live) < 5 {
			continue
		}
		i := rng.IntN(len(live))
		live[i] = release(t, a, live[i], id)
		live[i] = live[len(live)-1]
		live = live[:len(live)-1]
	}
	for _, s := range live {
		release(t, a, s, id)
	}
}

func release(t *testing.T, a *Arena, s []uint64, id uint64) []uint64 {
	for i, v := range s {
		if v != id {
			t.Errorf("element %d of goroutine %d was written by %d", i, id, v)
			break
		}
	}
	if err := Free(a, s); err != nil {
		t.Error(err)
	}
	return nil
}

// Of many goroutines that free the same memory exactly one succeeds.
func TestConcurrentDoubleFree(t *testing.T) {
	a := newArena(t, Config{})
	for range 200 {
		s := mustAlloc[byte](t, a, 100)
		var all sync.WaitGroup
		var mu sync.Mutex
		freed := 0
		for range 4 {
			all.Go(func() {
				if Free(a, s) == nil {
					mu.Lock()
					freed++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if freed != 1 {
			t.Fatalf("freed %d times", freed)
		}
	}
}
