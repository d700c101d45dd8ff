//go:build cgo && linux

package verbs

import (
	"encoding/binary"
	"fmt"

	"github.com/golaunch/golaunch/transport/internal/address"
)

// An endpoint's address is its rank, so that another one's is noticed before
// anybody connects, and where connections are arranged.
const rankBytes = 4

func encodeAddress(rank int, offer address.Offer) ([]byte, error) {
	b, err := address.Encode(offer)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(rank)), b...), nil
}

func decodeAddress(rank int, b []byte) (address.Offer, error) {
	if len(b) < rankBytes {
		return address.Offer{}, fmt.Errorf("an address of %d bytes", len(b))
	}
	if other := binary.LittleEndian.Uint32(b); other != uint32(rank) {
		return address.Offer{}, fmt.Errorf("it is the address of rank %d", other)
	}
	return address.Decode(b[rankBytes:])
}
