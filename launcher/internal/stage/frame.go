package stage

import (
	"encoding/binary"
	"fmt"
)

// What two ends say to each other: frames of a kind, a length, and so many bytes.
//
//	sender                       receiver
//	order  ────────────────────>           once, first
//	       <────────────────────  want     this blob, from this byte on
//	data   ────────────────────>           any number, until the blob is whole
//	       <────────────────────  report   what has become of a host, any number
//	       <────────────────────  end      nothing more will be reported
//	beat   <───────────────────>  beat     now and then
//
// The next want comes when the blob of the last is whole, for which the sender need
// not be the reason. A receiver that has a blob, or gets it from somebody else, does
// not want it.
type kind uint8

const (
	kindOrder kind = 1 + iota
	kindWant
	kindData
	kindReport
	kindEnd
	kindBeat
)

const headerSize = 4

// A frame of data begins with the offset of its first byte.
const offsetSize = 8

// maxData is how many bytes of a blob a frame has at most. Receivers work on what
// there is of a frame, so what it costs them in time is a buffer's length.
const maxData = 128 << 10

// limit is how many bytes a frame may have.
func (k kind) limit() int {
	switch k {
	case kindOrder:
		return maxOrder
	case kindWant:
		return wantSize
	case kindData:
		return offsetSize + maxData
	case kindReport:
		return maxReport
	}
	return 0
}

// appendHeader appends the header of a frame.
func appendHeader(b []byte, k kind, length int) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(k)<<24|uint32(length))
}

// parseHeader reads one of headerSize bytes.
func parseHeader(b []byte) (kind, int, error) {
	v := binary.BigEndian.Uint32(b)
	k, length := kind(v>>24), int(v&(1<<24-1))
	if k < kindOrder || k > kindBeat {
		return 0, 0, fmt.Errorf("frame of kind %d: it speaks something else", k)
	}
	if length > k.limit() {
		return 0, 0, fmt.Errorf("frame of kind %d with %d bytes: want %d at most", k, length, k.limit())
	}
	return k, length, nil
}

// A want asks for a blob, by its position in the order, from a byte on.
type want struct {
	blob   int
	offset int64
}

const wantSize = 12

func (w want) append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, uint32(w.blob)), uint64(w.offset))
}

func parseWant(b []byte) (want, error) {
	if len(b) != wantSize {
		return want{}, fmt.Errorf("want of %d bytes", len(b))
	}
	return want{int(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint64(b[4:]))}, nil
}
