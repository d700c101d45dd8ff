package address

import (
	"encoding/binary"
	"fmt"
)

// rankBytes is how long the rank is in front of an endpoint's offer.
const rankBytes = 4

// EncodeEndpoint encodes an endpoint's address: its rank, so that another one's is
// noticed before anybody connects, and where it is reached.
func EncodeEndpoint(rank int, offer Offer) ([]byte, error) {
	b, err := Encode(offer)
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(rank)), b...), nil
}

// DecodeEndpoint decodes the address of the endpoint of a rank.
func DecodeEndpoint(rank int, b []byte) (Offer, error) {
	if len(b) < rankBytes {
		return Offer{}, fmt.Errorf("an address of %d bytes", len(b))
	}
	if other := binary.LittleEndian.Uint32(b); other != uint32(rank) {
		return Offer{}, fmt.Errorf("it is the address of rank %d", other)
	}
	return Decode(b[rankBytes:])
}
