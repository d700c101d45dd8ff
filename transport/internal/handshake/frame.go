package handshake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Protocol is this handshake's number. It changes with any frame's meaning; the
// header and a refusal keep their layout in all protocols, so that two ends can
// always tell each other what they are.
const Protocol = 1

const (
	magic      = "GoLh" // no TLS record and no HTTP request begins like this
	headerSize = len(magic) + 2 + 1 + 1
	nonceSize  = 32
	macSize    = 32

	helloSize     = headerSize + 3*4 + nonceSize + 2*MaxName
	challengeSize = headerSize + nonceSize
	proofSize     = headerSize + macSize
	refusalSize   = headerSize + 2*4 + 2*MaxName
	// maxFrame is a buffer that holds any frame.
	maxFrame = helloSize
)

// A kind says which frame it is. The three proofs differ in their kind only,
// which is also what their codes begin with: no proof can pass for another.
type kind uint8

const (
	kindHello     kind = 1 // dialer: who I am, whom I want
	kindChallenge kind = 2 // listener: prove it
	kindProof     kind = 3 // dialer: I know the secret
	kindAccept    kind = 4 // listener: so do I
	kindConfirm   kind = 5 // dialer: this is the connection I take
	kindRefusal   kind = 6 // listener: I will not, because
)

func (k kind) String() string {
	names := [...]string{"frame 0", "hello", "challenge", "proof", "accept", "confirm", "refusal"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("frame %d", uint8(k))
}

// size is how long a frame of the kind is, header included; 0: there is none.
func (k kind) size() int {
	switch k {
	case kindHello:
		return helloSize
	case kindChallenge:
		return challengeSize
	case kindProof, kindAccept, kindConfirm:
		return proofSize
	case kindRefusal:
		return refusalSize
	}
	return 0
}

// A header begins every frame: magic, protocol (u16), kind, detail.
type header struct {
	protocol uint16
	kind     kind
	detail   uint8 // a hello's flags, a refusal's reason, else 0
}

var errMagic = errors.New("does not begin like a frame")

func (h header) append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, h.protocol)
	return append(b, byte(h.kind), h.detail)
}

// decodeHeader reads the first headerSize bytes of b.
func decodeHeader(b []byte) (header, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return header{}, errMagic
	}
	h := header{protocol: binary.LittleEndian.Uint16(b[4:]), kind: kind(b[6]), detail: b[7]}
	if h.kind.size() == 0 {
		return header{}, fmt.Errorf("%v is unknown", h.kind)
	}
	return h, nil
}

// expect reads the header of a whole frame of this protocol.
func expect(k kind, frame []byte) (header, error) {
	h, err := decodeHeader(frame)
	switch {
	case err != nil:
		return h, err
	case h.kind != k:
		return h, fmt.Errorf("a %v where a %v belongs", h.kind, k)
	case len(frame) != k.size():
		return h, fmt.Errorf("a %v of %d bytes, %d belong", k, len(frame), k.size())
	case h.protocol != Protocol && k != kindRefusal:
		return h, fmt.Errorf("a %v of protocol %d, this is %d", k, h.protocol, Protocol)
	case h.detail != 0 && k != kindHello && k != kindRefusal:
		return h, fmt.Errorf("a %v with detail %d", k, h.detail)
	}
	return h, nil
}

const flagEncrypt = 1

// A hello is what a dialer claims. It proves nothing yet.
type hello struct {
	encrypt        bool
	from, to, size uint32
	nonce          [nonceSize]byte
	version, job   string
}

func (m hello) encode() []byte {
	h := header{protocol: Protocol, kind: kindHello}
	if m.encrypt {
		h.detail = flagEncrypt
	}
	b := h.append(make([]byte, 0, helloSize))
	b = binary.LittleEndian.AppendUint32(b, m.from)
	b = binary.LittleEndian.AppendUint32(b, m.to)
	b = binary.LittleEndian.AppendUint32(b, m.size)
	b = append(b, m.nonce[:]...)
	return appendName(appendName(b, m.version), m.job)
}

func decodeHello(frame []byte) (hello, error) {
	h, err := expect(kindHello, frame)
	if err != nil {
		return hello{}, err
	}
	if h.detail&^flagEncrypt != 0 {
		return hello{}, fmt.Errorf("a hello with flags %#x", h.detail)
	}
	b := frame[headerSize:]
	m := hello{
		encrypt: h.detail&flagEncrypt != 0,
		from:    binary.LittleEndian.Uint32(b),
		to:      binary.LittleEndian.Uint32(b[4:]),
		size:    binary.LittleEndian.Uint32(b[8:]),
		nonce:   [nonceSize]byte(b[12:]),
	}
	m.version, m.job, err = decodeNames(b[12+nonceSize:])
	return m, err
}

func encodeChallenge(nonce [nonceSize]byte) []byte {
	b := header{protocol: Protocol, kind: kindChallenge}.append(make([]byte, 0, challengeSize))
	return append(b, nonce[:]...)
}

func encodeProof(k kind, mac []byte) []byte {
	b := header{protocol: Protocol, kind: k}.append(make([]byte, 0, proofSize))
	return append(b, mac...)
}

// appendName appends a name that check has passed, padded with zeros.
func appendName(b []byte, name string) []byte {
	b = append(b, name...)
	return append(b, make([]byte, MaxName-len(name))...)
}

func decodeNames(b []byte) (version, job string, err error) {
	version, err = decodeName("version", b[:MaxName])
	if err != nil {
		return "", "", err
	}
	job, err = decodeName("job", b[MaxName:2*MaxName])
	return version, job, err
}

// decodeName takes a name only in the one way in which appendName writes it.
func decodeName(what string, b []byte) (string, error) {
	name := bytes.TrimRight(b, "\x00")
	if bytes.IndexByte(name, 0) >= 0 {
		return "", fmt.Errorf("a %s with a zero in it", what)
	}
	return string(name), nil
}
