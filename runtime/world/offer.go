package world

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/runtime/arena"
)

// An offer is what a leader publishes: where the memory for its host's members is
// and the port for the other leaders, or why there is none.
type offer struct {
	at     arena.Extent
	bytes  int64
	port   uint32
	refuse string
}

// The layout of an offer: length of the refusal (4 bytes), port (4), key, offset,
// length (8 each), refusal.
const offerHead = 32

func (o offer) encode(dst []byte) []byte {
	refusal := o.refuse[:min(len(o.refuse), len(dst)-offerHead)]
	binary.LittleEndian.PutUint32(dst, uint32(len(refusal)))
	binary.LittleEndian.PutUint32(dst[4:], o.port)
	binary.LittleEndian.PutUint64(dst[8:], o.at.Key)
	binary.LittleEndian.PutUint64(dst[16:], uint64(o.at.Offset))
	binary.LittleEndian.PutUint64(dst[24:], uint64(o.bytes))
	return dst[:offerHead+copy(dst[offerHead:], refusal)]
}

func decodeOffer(src []byte) (offer, error) {
	if len(src) < offerHead {
		return offer{}, fmt.Errorf("offer of %d bytes, want at least %d", len(src), offerHead)
	}
	n := binary.LittleEndian.Uint32(src)
	if uint64(n) != uint64(len(src)-offerHead) {
		return offer{}, fmt.Errorf("offer of %d bytes with a refusal of %d", len(src), n)
	}
	return offer{
		at: arena.Extent{
			Key:    binary.LittleEndian.Uint64(src[8:]),
			Offset: int64(binary.LittleEndian.Uint64(src[16:])),
		},
		bytes:  int64(binary.LittleEndian.Uint64(src[24:])),
		port:   binary.LittleEndian.Uint32(src[4:]),
		refuse: string(src[offerHead:]),
	}, nil
}
