package line

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golaunch/golaunch/runtime/futex"
)

// A ring is the frames that one process has put for another one into memory of both.
//
//	Invariant: 0 <= sent - taken <= Places, counted modulo 2^32
//
// A frame stands at place sent mod Places. Its writer stores it and then sent, atomically; its reader
// loads sent atomically and then the frame: what it sees counted is there. How much the reader has
// taken it keeps to itself: the writer must know otherwise that there is room.
//
// A reader that has found nothing sleeps. Losing a wake-up is excluded by a store-load handshake:
//
//	reader: asleep = 1; if sent != taken { asleep = 0; take }; sleep until asleep is 0
//	writer: store the frame; sent++; if asleep == 1 and it can make it 0 { wake the reader }
//
// Either the writer sees asleep, or the reader sees what was sent: both words are loaded and stored by
// Go's atomics, which are sequentially consistent. Of several writers' and sleepers' turns each 1 is
// made 0 once, so that a reader is woken once.
//
// The reader believes nothing of what it finds: not that sent is near, nor that a frame stays as it is
// while it is read.
//
// What is unsafe here: the two words are seen as sync/atomic's types. They are aligned, because a ring
// begins at a multiple of ringBytes of a mapping, which lasts as long as the ring is used.
type ring struct {
	sent   *atomic.Uint32
	asleep *atomic.Uint32
	places []byte
}

const (
	// Places is how many frames a ring holds.
	Places = 128

	placeBytes = 128 // the frame's length, u32, and the frame
	cacheLine  = 64
	ringBytes  = 2*cacheLine + Places*placeBytes

	// MaxRingBody is the longest Body of a frame that goes through a ring.
	MaxRingBody = placeBytes - 4 - headSize
)

// openRing finds the i-th ring of a mapping.
//
// Precondition: mem is at least (i+1)*ringBytes long, and begins at a multiple of 8.
func openRing(mem []byte, i int) ring {
	mem = mem[i*ringBytes:][:ringBytes:ringBytes]
	return ring{
		sent:   (*atomic.Uint32)(unsafe.Pointer(&mem[0])),
		asleep: (*atomic.Uint32)(unsafe.Pointer(&mem[cacheLine])),
		places: mem[2*cacheLine:],
	}
}

func (r *ring) place(n uint32) []byte { return r.places[n%Places*placeBytes:][:placeBytes:placeBytes] }

// A Writer is one end of a ring. It belongs to one goroutine at a time.
type Writer struct {
	ring
	next uint32
}

// Send puts a frame there. If it says so, the reader sleeps, and the caller has to wake it.
//
// Precondition: of the frames before it the reader has taken all but Places-1; the Body has at most
// MaxRingBody bytes.
func (w *Writer) Send(f *Frame) (wake bool) {
	at := w.place(w.next)
	binary.LittleEndian.PutUint32(at, uint32(len(f.Append(at[4:4]))))
	w.next++
	w.sent.Store(w.next)
	return w.asleep.Load() == 1 && w.asleep.CompareAndSwap(1, 0)
}

// Wake wakes a reader that is in Sleep.
func (w *Writer) Wake() { futex.Wake(w.asleep) }

// A Reader is the other end. It belongs to one goroutine at a time.
type Reader struct {
	ring
	taken uint32
	frame [placeBytes]byte // the one that was taken last
}

// Empty reports whether there is nothing to take.
func (r *Reader) Empty() bool { return r.sent.Load() == r.taken }

// Receive takes the next frame, if there is one. Its Body is valid until the next Receive.
func (r *Reader) Receive() (f Frame, some bool, err error) {
	there := r.sent.Load() - r.taken
	if there == 0 {
		return Frame{}, false, nil
	}
	if there > Places {
		return Frame{}, false, fmt.Errorf("a ring with %d frames in %d places", there, Places)
	}
	copy(r.frame[:], r.place(r.taken))
	r.taken++
	n := binary.LittleEndian.Uint32(r.frame[:])
	if n > placeBytes-4 {
		return Frame{}, false, fmt.Errorf("a frame of %d bytes in a place of %d", n, placeBytes)
	}
	f, err = Parse(r.frame[4 : 4+n])
	return f, err == nil, err
}

// Drowse says that the reader is about to sleep, and reports whether it may. Rouse follows in any case.
func (r *Reader) Drowse() (sleep bool) {
	r.asleep.Store(1)
	return r.Empty()
}

// Sleep returns after Wake. It may return without that.
func (r *Reader) Sleep() { futex.Wait(r.asleep, 1) }

// Rouse ends what Drowse began.
func (r *Reader) Rouse() { r.asleep.Store(0) }
