package handshake

import (
	"bytes"
	"strings"
	"testing"
)

func samples() [][]byte {
	long := strings.Repeat("n", MaxName)
	return [][]byte{
		hello{from: 1, to: 2, size: 4, nonce: nonce(3), version: "1.2.0", job: "heat-1"}.encode(),
		hello{encrypt: true, from: 1<<31 - 2, size: 1<<31 - 1, version: long, job: long}.encode(),
		encodeChallenge(nonce(9)),
		encodeProof(kindProof, make([]byte, macSize)),
		encodeProof(kindAccept, bytes.Repeat([]byte{255}, macSize)),
		encodeProof(kindConfirm, make([]byte, macSize)),
		refusal{protocol: Protocol, reason: reasonVersion, rank: 2, size: 4, version: "1.3.0", job: "x"}.encode(),
		refusal{protocol: 77, reason: reasonProtocol, version: long, job: ""}.encode(),
	}
}

// again decodes a frame and encodes it.
func again(frame []byte) ([]byte, error) {
	h, err := decodeHeader(frame)
	if err != nil {
		return nil, err
	}
	switch h.kind {
	case kindHello:
		m, err := decodeHello(frame)
		if err != nil {
			return nil, err
		}
		return m.encode(), nil
	case kindRefusal:
		m, err := decodeRefusal(frame)
		if err != nil {
			return nil, err
		}
		return m.encode(), nil
	case kindChallenge:
		if _, err := expect(h.kind, frame); err != nil {
			return nil, err
		}
		return encodeChallenge([nonceSize]byte(frame[headerSize:])), nil
	}
	if _, err := expect(h.kind, frame); err != nil {
		return nil, err
	}
	return encodeProof(h.kind, frame[headerSize:]), nil
}

func TestFramesSurvive(t *testing.T) {
	for _, frame := range samples() {
		back, err := again(frame)
		if err != nil || !bytes.Equal(frame, back) {
			t.Errorf("%x comes back as %x, %v", frame, back, err)
		}
		if k := kind(frame[6]); len(frame) != k.size() || len(frame) > maxFrame {
			t.Errorf("a %v has %d bytes", k, len(frame))
		}
	}
}

func TestFramesThatAreNone(t *testing.T) {
	good := samples()
	change := func(frame []byte, at int, to byte) []byte {
		frame = bytes.Clone(frame)
		frame[at] = to
		return frame
	}
	for name, frame := range map[string][]byte{
		"empty":                 nil,
		"http":                  []byte("GET / HTTP/1.1\r\n\r\n"),
		"kind 0":                change(good[0], 6, 0),
		"kind 7":                change(good[0], 6, 7),
		"hello with flags":      change(good[0], 7, 2),
		"hello of protocol 2":   change(good[0], 4, 2),
		"hello too long":        append(bytes.Clone(good[0]), 0),
		"name with a zero":      change(good[0], helloSize-2*MaxName+1, 0),
		"challenge with detail": change(good[2], 7, 1),
		"refusal for nothing":   change(good[6], 7, 0),
		"refusal for 8":         change(good[6], 7, uint8(reasons)),
		"refusal cut":           good[6][:refusalSize-1],
	} {
		if back, err := again(frame); err == nil {
			t.Errorf("%s is taken: %x", name, back)
		}
	}
}

// FuzzFrame: what decodes, encodes to the same bytes; nothing panics.
func FuzzFrame(f *testing.F) {
	for _, frame := range samples() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		back, err := again(frame)
		if err == nil && !bytes.Equal(frame, back) {
			t.Errorf("%x decodes and comes back as %x", frame, back)
		}
	})
}

// FuzzAnswering lets a stranger say anything: it never gets past its proof, and
// nothing panics.
func FuzzAnswering(f *testing.F) {
	good := samples()
	f.Add(good[0], good[3], good[5])
	f.Fuzz(func(t *testing.T, hello, proof, confirm []byte) {
		me := identity(2)
		a := newAnswering(me, key(t, me), channel{trusted: true})
		_ = a.begun(hello)
		if _, err := a.greeted(hello, nonce(1)); err != nil {
			return
		}
		if _, err := a.proved(proof); err == nil {
			t.Error("the proof is taken")
		}
		if a.confirmed(confirm) == nil {
			t.Error("the confirmation is taken")
		}
	})
}

// FuzzDialing lets whoever was dialled answer anything.
func FuzzDialing(f *testing.F) {
	good := samples()
	f.Add(good[2], good[4])
	f.Add(good[6], good[7])
	f.Fuzz(func(t *testing.T, challenge, accept []byte) {
		me := identity(1)
		d := newDialing(me, key(t, me), channel{trusted: true}, 2, nonce(1))
		if r, err := decodeRefusal(challenge); err == nil && r.explain(me, 2) == nil {
			t.Error("a refusal is no error")
		}
		if _, err := d.challenged(challenge); err != nil {
			return
		}
		if _, err := d.accepted(accept); err == nil {
			t.Error("the proof is taken")
		}
	})
}
