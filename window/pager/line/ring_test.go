package line

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/internal/spawntest"
)

func newMail(t testing.TB) (m Mail, shared *os.File) {
	t.Helper()
	m, fd, err := NewMail()
	if err != nil {
		t.Fatal(err)
	}
	shared = os.NewFile(uintptr(fd), "mail")
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), shared.Close()); err != nil {
			t.Error(err)
		}
	})
	return m, shared
}

// Frames come out as they went in, in their order, around the ring, up to as many as it holds.
func TestRing(t *testing.T) {
	m, _ := newMail(t)
	w, _ := m.Rank()
	r, _ := m.Pager()
	if !r.Empty() {
		t.Error("a new ring is not empty")
	}
	sent, taken := uint32(0), uint32(0)
	for _, n := range []int{1, 2, Places, Places - 1, 7, Places} {
		for range n {
			w.Send(&Frame{Kind: Want, Mode: Write, ID: sent, Window: 1 << 40, First: 3, N: 9, Body: bytes.Repeat([]byte{byte(sent)}, int(sent)%(MaxRingBody+1))})
			sent++
		}
		for range n {
			f, some, err := r.Receive()
			if err != nil || !some || f.ID != taken || f.Window != 1<<40 || f.N != 9 || len(f.Body) != int(taken)%(MaxRingBody+1) || bytes.Count(f.Body, []byte{byte(taken)}) != len(f.Body) {
				t.Fatalf("frame %d: %+v, %v, %v", taken, f, some, err)
			}
			taken++
		}
		if f, some, err := r.Receive(); some || err != nil || !r.Empty() {
			t.Fatalf("from an empty ring: %+v, %v, %v", f, some, err)
		}
	}
}

// Who sleeps is to be woken, once, by what comes first.
func TestWakes(t *testing.T) {
	m, _ := newMail(t)
	w, _ := m.Rank()
	r, _ := m.Pager()
	f := Frame{Kind: Done}
	if w.Send(&f) {
		t.Error("a reader that is awake was to be woken")
	}
	if r.Drowse() {
		t.Error("a reader may sleep though something is there")
	}
	r.Rouse()
	if _, some, err := r.Receive(); !some || err != nil {
		t.Fatal(some, err)
	}
	if !r.Drowse() {
		t.Error("a reader may not sleep though nothing is there")
	}
	if !w.Send(&f) || w.Send(&f) {
		t.Error("a reader that sleeps was not to be woken once")
	}
	r.Sleep() // returns at once
}

// A process that writes anything anywhere does not harm who reads.
func FuzzRing(f *testing.F) {
	good := (&Frame{Kind: Want, ID: 3, First: 7, N: 2, Body: []byte{1, 2}}).Append(nil)
	f.Add(uint32(1), binary.LittleEndian.AppendUint32(nil, uint32(len(good))), good)
	f.Add(uint32(Places+1), []byte{}, []byte{})
	f.Add(uint32(2), []byte{0xff, 0xff, 0xff, 0xff}, []byte{9})
	m, _ := newMail(f)
	f.Fuzz(func(t *testing.T, sent uint32, length, frame []byte) {
		clear(m.mem)
		w, _ := m.Rank()
		r, _ := m.Pager()
		for n := range uint32(Places) {
			copy(w.place(n), length[:min(len(length), 4)])
			copy(w.place(n)[4:], frame)
		}
		w.sent.Store(sent)
		for n := range uint32(Places) + 1 {
			p, some, err := r.Receive()
			switch {
			case err != nil && some:
				t.Fatalf("a frame with an error: %+v, %v", p, err)
			case err != nil:
				return
			case !some && n != sent:
				t.Fatalf("%d frames of %d", n, sent)
			case !some:
				return
			case !bytes.HasPrefix(frame, p.Append(nil)) && !bytes.HasPrefix(append(bytes.Clone(frame), make([]byte, placeBytes)...), p.Append(nil)):
				t.Fatalf("%x is encoded as %x", frame, p.Append(nil))
			}
		}
		t.Fatalf("more than %d frames", Places)
	})
}

// Nobody can take the memory from under who reads.
func TestMailIsSealed(t *testing.T) {
	_, shared := newMail(t)
	for _, size := range []int64{0, mailBytes - 1, 2 * mailBytes} {
		if err := shared.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("to %d bytes: %v, want %v", size, err, unix.EPERM)
		}
	}
}

// Two processes send each other frames, and sleep whenever there is nothing to take: a pager at a bell,
// and a rank at its ring. A wake-up that is lost is a test that does not end.
func TestNobodySleepsOn(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			if process, ok := spawntest.Rank(); ok {
				talk(t, process)
				return
			}
			_, shared := newMail(t)
			bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
			if err != nil {
				t.Fatal(err)
			}
			rung := os.NewFile(uintptr(bell), "bell")
			defer rung.Close()
			spawntest.Run(t, 2, []string{fmt.Sprintf("GOMAXPROCS=%d", procs)}, shared, rung)
		})
	}
}

// talk is one of the two processes: 0 is the rank.
func talk(t *testing.T, process int) {
	m, err := MapMail(spawntest.FirstFile)
	if err != nil {
		t.Fatal(err)
	}
	// On cores of their own, where there are two: on one they never look and send at the same moment.
	runtime.LockOSThread()
	var core unix.CPUSet
	core.Set(process)
	_ = unix.SchedSetaffinity(0, &core)
	const frames, bell = 20000, spawntest.FirstFile + 1
	random := rand.New(rand.NewPCG(uint64(process), 1))
	if process == 0 {
		requests, answers := m.Rank()
		ring := func() error { _, err := unix.Write(bell, binary.NativeEndian.AppendUint64(nil, 1)); return err }
		for sent, taken := uint32(0), uint32(0); taken < frames && !t.Failed(); taken++ {
			most := uint32(1) // of several, the next one makes up for a wake-up that was lost
			if random.IntN(1000) == 0 {
				most = Places
			}
			for ; sent < frames && sent-taken < most; sent++ {
				linger(random)
				post(t, requests, sent, ring)
			}
			receive(t, answers, taken, func() error { answers.Sleep(); return nil })
		}
		return
	}
	requests, answers := m.Pager()
	for n := uint32(0); n < frames && !t.Failed(); n++ {
		receive(t, requests, n, func() error {
			var times [8]byte
			_, err := unix.Read(bell, times[:])
			return err
		})
		linger(random)
		post(t, answers, n, func() error { answers.Wake(); return nil })
	}
}

func post(t *testing.T, w *Writer, n uint32, wake func() error) {
	if w.Send(&Frame{Kind: Want, ID: n, Window: uint64(n) << 32}) {
		if err := wake(); err != nil {
			t.Error(err)
		}
	}
}

func receive(t *testing.T, r *Reader, n uint32, sleep func() error) {
	for !t.Failed() {
		f, some, err := r.Receive()
		switch {
		case err != nil || some && (f.ID != n || f.Window != uint64(n)<<32):
			t.Errorf("frame %d: %+v, %v", n, f, err)
		case some:
			return
		}
		if r.Drowse() {
			if err := sleep(); err != nil {
				t.Error(err)
			}
		}
		r.Rouse()
	}
}

// linger takes a little time, or none, so that the other one finds nothing now and then.
func linger(random *rand.Rand) {
	for range random.IntN(1 << random.IntN(11)) {
		relax()
	}
}

//go:noinline
func relax() {}
