//go:build cgo && linux

package verbs

import (
	"bytes"
	"testing"
)

var someGreeting = greeting{
	pair: 17, sequence: 1<<24 - 1, lid: 3, global: true, mtu: 5, reads: 16, credits: 16, rkey: 0xdead, address: 1 << 46,
	gid: [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 9, 15: 1},
}

func TestGreetingSurvives(t *testing.T) {
	got, err := decodeGreeting(someGreeting.encode())
	if err != nil || got != someGreeting {
		t.Errorf("%+v became %+v, %v", someGreeting, got, err)
	}
}

func TestDecodeGreetingRefuses(t *testing.T) {
	good := someGreeting.encode()
	change := func(at int, value byte) []byte {
		b := bytes.Clone(good)
		b[at] = value
		return b
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "half": good[:24], "more": append(bytes.Clone(good), 0), "another magic": change(0, 'x'),
		"a pair of 25 bits": change(7, 1), "a packet of 25 bits": change(11, 1), "MTU 0": change(14, 0), "MTU 6": change(14, 6),
		"no reads": change(15, 0), "17 reads": change(15, 17), "17 credits": change(16, 17), "no link layer": change(18, 2), "no flag": change(19, 2), "a LID for many": change(13, 0xc0),
	} {
		if g, err := decodeGreeting(b); err == nil {
			t.Errorf("%s: decoded as %+v", name, g)
		}
	}
}

// FuzzDecodeGreeting: what is decoded is what would be encoded.
func FuzzDecodeGreeting(f *testing.F) {
	f.Add(someGreeting.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := decodeGreeting(b)
		if err == nil && !bytes.Equal(g.encode(), b) {
			t.Errorf("% x is decoded as %+v", b, g)
		}
	})
}
