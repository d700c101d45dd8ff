package job

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/internal/spawntest"
)

func create(t *testing.T, size int, opt Options) *Memory {
	t.Helper()
	m, err := Create(size, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func again(t *testing.T, m *Memory) *os.File {
	t.Helper()
	fd, err := unix.Dup(int(m.File().Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "again")
}

func TestMapSeesWhatCreateMade(t *testing.T) {
	m := create(t, 5, Options{Cores: 3, Extra: 1000})
	other, err := Map(again(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if other.Size() != 5 || other.Cores() != 3 || len(other.Extra()) != 1000 {
		t.Errorf("size %d, cores %d, extra %d; want 5, 3, 1000", other.Size(), other.Cores(), len(other.Extra()))
	}
	m.Extra()[999] = 7
	if other.Extra()[999] != 7 {
		t.Error("the second mapping does not see a store through the first")
	}
	m.Report(4, Failed, -9)
	if s, code := other.State(4); s != Failed || code != -9 {
		t.Errorf("state %v, code %d; want failed, -9", s, code)
	}
}

func TestMemoryCannotShrink(t *testing.T) {
	m := create(t, 2, Options{})
	if err := m.File().Truncate(0); err == nil {
		t.Error("the job's memory could be truncated under its ranks")
	}
}

func TestCreateRefusesSize(t *testing.T) {
	for _, size := range []int{-1, 0, MaxRanks + 1} {
		if m, err := Create(size, Options{}); err == nil {
			t.Errorf("Create(%d) succeeded", size)
			m.Close()
		}
	}
}

func TestMapRefuses(t *testing.T) {
	cases := []struct {
		name, want string
		spoil      func(*header)
	}{
		{"magic", "magic", func(h *header) { h.magic++ }},
		{"layout", "layout version", func(h *header) { h.layout++ }},
		{"no ranks", "0 ranks", func(h *header) { h.size = 0 }},
		{"too many ranks", "ranks", func(h *header) { h.size = MaxRanks + 1 }},
		{"no cores", "0 cores", func(h *header) { h.cores = 0 }},
		{"table beyond the end", "too few", func(h *header) { h.size = 1000 }},
		{"extra beyond the end", "too few", func(h *header) { h.extra = 1 << 40 }},
		{"extra overflowing", "too few", func(h *header) { h.extra = 1<<64 - 1 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := create(t, 2, Options{Extra: 10})
			c.spoil(headerOf(m.mem))
			other, err := Map(again(t, m))
			if err == nil {
				other.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
	t.Run("no memfd", func(t *testing.T) {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Map(f); err == nil || !strings.Contains(err.Error(), "sealed") {
			t.Errorf("error %v, want one that says sealed", err)
		}
	})
}

// A rank's wild store must not lead another one outside its mapping.
func TestHeaderChangedAfterMap(t *testing.T) {
	m := create(t, 2, Options{Cores: 4, Extra: 10})
	other, err := Map(again(t, m))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	*headerOf(m.mem) = header{extra: 1 << 40, size: 1 << 20}
	if len(other.Extra()) != 10 || other.Size() != 2 || other.Cores() != 4 {
		t.Errorf("extra %d, size %d, cores %d", len(other.Extra()), other.Size(), other.Cores())
	}
}

func TestStateNeverGoesBack(t *testing.T) {
	m := create(t, 1, Options{})
	m.Report(0, Joined, 0)
	m.Report(0, Left, 0)
	m.Report(0, Joined, 0)
	m.Report(0, Left, 5)
	if s, code := m.State(0); s != Left || code != 0 {
		t.Errorf("state %v, code %d; want left, 0", s, code)
	}
}

func TestFailureNamesTheRankAndTheCause(t *testing.T) {
	cases := []struct {
		state State
		code  int32
		want  string
	}{
		{Starting, 0, ""}, {Joined, 0, ""},
		{Left, 0, "rank 1 failed: it has left the job"},
		{Exited, 0, "rank 1 failed: it exited without leaving the job"},
		{Failed, 3, "rank 1 failed: exited with code 3"},
		{Failed, -9, "rank 1 failed: killed by signal 9 (killed)"},
		{Failed, CodeHostLost, "rank 1 failed: its host was lost"},
		{Failed, CodeNotStarted, "rank 1 failed: it could not be started"},
		{Failed, 0, "rank 1 failed: its connection to the supervisor was lost"},
	}
	for _, c := range cases {
		m := create(t, 2, Options{})
		m.Report(1, c.state, c.code)
		err := m.Failure(1)
		if c.want == "" {
			if err != nil {
				t.Errorf("%v: %v, want no error", c.state, err)
			}
			continue
		}
		var failed *RankFailedError
		if !errors.As(err, &failed) || err.Error() != c.want {
			t.Errorf("%v: %v, want %q", c.state, err, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	m := create(t, 2, Options{})
	if a := m.Address(1); a != nil {
		t.Errorf("address %q before it was set", a)
	}
	if err := m.SetAddress(1, []byte("here")); err != nil {
		t.Fatal(err)
	}
	if a := m.Address(1); string(a) != "here" {
		t.Errorf("address %q, want here", a)
	}
	for _, n := range []int{0, MaxAddress + 1} {
		if err := m.SetAddress(0, make([]byte, n)); err == nil {
			t.Errorf("an address of %d bytes was accepted", n)
		}
	}
}

func TestReserveCountsAllRanks(t *testing.T) {
	m := create(t, 3, Options{})
	const tebi = 1 << 40
	if _, err := m.Reserve(0, tebi); err == nil || !strings.Contains(err.Error(), "1.0 TiB") {
		t.Errorf("a tebibyte: %v, want an error that says 1.0 TiB", err)
	}
	release, err := m.Reserve(0, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	lineOf(m.mem, 2).reserved.Store(tebi)
	if _, err := m.Reserve(1, 1<<20); err == nil || !strings.Contains(err.Error(), "with the other ranks") {
		t.Errorf("beside another rank's tebibyte: %v, want an error that says so", err)
	}
	m.Report(2, Failed, 1)
	m.Report(0, Left, 0)
	release() // late: must not hide what others announce
	if sum := m.reserved(); sum != 0 {
		t.Errorf("%d bytes are still reserved", sum)
	}
}

// TestNoWakeUpIsLost plays a token back and forth between two ranks that always
// sleep before they look. A lost wake-up is a hang.
func TestNoWakeUpIsLost(t *testing.T) {
	const rounds = 20000
	play := func(m *Memory, rank int) {
		token := &lineOf(m.mem, 2).bell // a third rank's line serves as the token
		for i := range uint32(rounds) {
			for token.Load() != 2*i+uint32(rank) {
				ticket := m.Drowse(rank)
				if token.Load() != 2*i+uint32(rank) {
					m.Sleep(rank, ticket)
				}
				m.Wake(rank)
			}
			token.Add(1)
			m.Ring(1 - rank)
		}
	}
	t.Run("goroutines", func(t *testing.T) {
		m := create(t, 3, Options{InProcess: true})
		done := make(chan struct{}, 2)
		for rank := range 2 {
			go func() { play(m, rank); done <- struct{}{} }()
		}
		for range 2 {
			select {
			case <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("a wake-up was lost")
			}
		}
	})
	t.Run("processes", func(t *testing.T) {
		if rank, ok := spawntest.Rank(); ok {
			m, err := Map(os.NewFile(spawntest.FirstFile, "job"))
			if err != nil {
				t.Fatal(err)
			}
			play(m, rank)
			return
		}
		m := create(t, 3, Options{})
		spawntest.Run(t, 2, nil, m.File())
	})
}
