package shm

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/transport"
)

// A ring is one contiguous piece of the sender's scratch memory:
//
//	0           want   the sender waits for room (written by the sender; the
//	                   receiver clears it when it rings)
//	ringHeadAt  head   bytes the receiver has given back, since the beginning
//	ringDataAt  data   records, one behind the other
//
// A record is a header word and a message, padded to whole units, which are cache
// lines: one transfer brings a short message. A record never wraps: where it does
// not fit before the end, a pad record fills the rest.
//
// Invariants, at every moment:
//
//	head <= tail, and tail-head+spare <= len(data)
//	the word at tail is 0, and is the first header the receiver finds to be 0
//	bytes from head to tail belong to the receiver, all others to the sender
//
// The receiver looks at the word at tail all the time, so its line is what a Send
// waits for. The line behind a record of one unit is therefore made 0 not before
// the record is published, when its sender would wait for that line too, but after
// the record before it.
const (
	unitBytes = 64
	spare     = 2 * unitBytes // at tail and behind the unit there

	lineBytes  = 128 // two 64-byte lines: the prefetcher fetches them in pairs
	ringHeadAt = lineBytes
	ringDataAt = 2 * lineBytes

	// ringBytes is the size of a ring; it holds transport.MinCredit messages of
	// transport.MaxMessage bytes with room to spare.
	ringBytes = 64 << 10
	// ringMinBytes holds two of the longest records: with less, a pad and the
	// record it makes way for would not fit at once, and a Send would wait forever.
	ringMinBytes = ringDataAt + 2*(transport.MaxMessage/unitBytes+1)*unitBytes + spare
	ringMaxBytes = 1 << 30
)

// A header is the first word of a record: bit 63 set, bit 62 for a pad, 30 bits
// of the record's number (so that a stray write does not pass for a record), 32
// bits of length in bytes without the header.
type header uint64

const (
	headerReady header = 1 << 63
	headerPad   header = 1 << 62
	numberShift        = 32
	numberMask         = 1<<30 - 1
)

var errCorrupt = errors.New("message ring is corrupt")

func makeHeader(number uint32, length int) header {
	return headerReady | header(number&numberMask)<<numberShift | header(uint32(length))
}

func makePad(number uint32, length int) header { return makeHeader(number, length) | headerPad }

func (h header) pad() bool      { return h&headerPad != 0 }
func (h header) number() uint32 { return uint32(h>>numberShift) & numberMask }
func (h header) length() int    { return int(uint32(h)) }

// recordBytes is the room that a message of n bytes takes.
func recordBytes(n int) int { return (wordBytes + n + unitBytes - 1) &^ (unitBytes - 1) }

// check tells whether h can be the header of record number at place at of a ring
// with size bytes of data. It is all that stands between what another process
// wrote and a slice expression.
//
// Postcondition: nil means that the record ends at or before size, that a message
// is at most transport.MaxMessage long, and that a pad ends at size and does not
// begin at 0 (so a pad is never followed by a pad).
func (h header) check(number uint32, at, size int) error {
	switch {
	case h&headerReady == 0 || h.number() != number&numberMask:
		return h.corrupt(number, at)
	case h.pad() && (at == 0 || at+wordBytes+h.length() != size):
		return h.corrupt(number, at)
	case !h.pad() && (h.length() > transport.MaxMessage || at+recordBytes(h.length()) > size):
		return h.corrupt(number, at)
	}
	return nil
}

func (h header) corrupt(number uint32, at int) error {
	return fmt.Errorf("%w: header %#x at byte %d, expecting record %d", errCorrupt, uint64(h), at, number&numberMask)
}

// checkRingSize tells whether a ring can have that many bytes in all.
func checkRingSize(n int) error {
	if n < ringMinBytes || n > ringMaxBytes || n%unitBytes != 0 {
		return fmt.Errorf("%d bytes cannot be a ring", n)
	}
	return nil
}
