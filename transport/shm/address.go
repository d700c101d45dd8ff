package shm

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/transport"
)

// An address is where a rank's control block is: magic, rank, segment, offset,
// length, little endian.
const (
	addressMagic = uint32(0x316d6873) // "shm1"
	addressBytes = 32
)

func encodeAddress(rank int, control transport.Remote) []byte {
	b := make([]byte, 0, addressBytes)
	b = binary.LittleEndian.AppendUint32(b, addressMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(rank))
	b = binary.LittleEndian.AppendUint64(b, control.Key)
	b = binary.LittleEndian.AppendUint64(b, uint64(control.Offset))
	return binary.LittleEndian.AppendUint64(b, uint64(control.Len))
}

// decodeAddress returns the place an address names. Offset and length may be
// anything; reach checks them.
func decodeAddress(rank int, b []byte) (transport.Remote, error) {
	if len(b) != addressBytes || binary.LittleEndian.Uint32(b) != addressMagic {
		return transport.Remote{}, fmt.Errorf("%d bytes %.8x... are not the address of an shm endpoint", len(b), b)
	}
	if owner := binary.LittleEndian.Uint32(b[4:]); uint64(owner) != uint64(rank) {
		return transport.Remote{}, fmt.Errorf("the address is that of rank %d", owner)
	}
	return transport.Remote{
		Key:    binary.LittleEndian.Uint64(b[8:]),
		Offset: int64(binary.LittleEndian.Uint64(b[16:])),
		Len:    int64(binary.LittleEndian.Uint64(b[24:])),
	}, nil
}

// reach returns this process's mapping of a place in rank's memory. What place
// says may come from another process.
func reach(cfg *transport.Config, rank int, place transport.Remote) ([]byte, error) {
	segment, err := cfg.Segment(rank, place.Key)
	if err != nil {
		return nil, err
	}
	whole := transport.Remote{Key: place.Key, Len: int64(len(segment))}
	if _, err := whole.Slice(place.Offset, place.Len); err != nil {
		return nil, fmt.Errorf("segment %#x: %w", place.Key, err)
	}
	end := place.Offset + place.Len
	return segment[place.Offset:end:end], nil
}
