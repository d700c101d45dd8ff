package world

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/runtime/arena"
)

func TestOfferSurvivesTheTrip(t *testing.T) {
	room := make([]byte, 100)
	for _, o := range []offer{
		{},
		{at: arena.Extent{Key: 7, Offset: 1 << 40}, bytes: 123},
		{refuse: "no memory"},
	} {
		got, err := decodeOffer(o.encode(room))
		if err != nil || got.at != o.at || got.bytes != o.bytes || got.refuse != o.refuse {
			t.Errorf("%+v became %+v, %v", o, got, err)
		}
	}
}

func TestLongRefusalIsCut(t *testing.T) {
	room := make([]byte, offerHead+4)
	got, err := decodeOffer(offer{refuse: "far too long"}.encode(room))
	if err != nil || got.refuse != "far " {
		t.Errorf("%q, %v", got.refuse, err)
	}
}

// FuzzDecodeOffer: an offer comes from another process.
func FuzzDecodeOffer(f *testing.F) {
	f.Add(offer{at: arena.Extent{Key: 1, Offset: 64}, bytes: 9, refuse: "x"}.encode(make([]byte, 64)))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOffer(b)
		if err != nil {
			return
		}
		again, err := decodeOffer(o.encode(make([]byte, len(b))))
		if diff := cmp.Diff(o, again, cmp.AllowUnexported(offer{})); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func TestWordSurvivesTheTrip(t *testing.T) {
	for _, e := range []arena.Extent{{Key: 1}, {Key: 1<<keyBits - 1, Offset: (1<<offsetBits - 1) * unit}} {
		word, err := pack(e)
		if err != nil || word == 0 || unpack(word) != e {
			t.Errorf("%+v became %#x, %+v, %v", e, word, unpack(word), err)
		}
	}
	for _, e := range []arena.Extent{{Key: 1 << keyBits}, {Offset: 1}, {Offset: -unit}, {Offset: unit << offsetBits}} {
		if word, err := pack(e); err == nil {
			t.Errorf("%+v was packed as %#x", e, word)
		}
	}
}
