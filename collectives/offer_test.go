package collectives

import (
	"encoding/binary"
	"testing"

	"github.com/golaunch/golaunch/runtime/arena"
)

func TestOfferSurvivesItsSlot(t *testing.T) {
	slot := make([]byte, offerSize)
	want := offer{
		bytes: 1 << 40, root: 300, hasIn: true,
		in: arena.Extent{Key: 7, Offset: 1 << 33}, out: arena.Extent{Key: 1<<64 - 1, Offset: 64},
	}
	want.encode(slot)
	if got, err := decodeOffer(slot); err != nil || got != want {
		t.Errorf("%+v became %+v, %v", want, got, err)
	}
}

// What another process wrote is never trusted to be an offer.
func FuzzOffer(f *testing.F) {
	f.Add(make([]byte, offerSize), uint32(0))
	f.Add([]byte("anything else"), uint32(sigOurs|sigLarge))
	f.Fuzz(func(t *testing.T, slot []byte, signature uint32) {
		if o, err := decodeOffer(slot); err == nil {
			again := make([]byte, offerSize)
			o.encode(again)
			if flags := binary.LittleEndian.Uint64(slot[16:]); flags < 4 && string(again) != string(slot) {
				t.Errorf("%x became %x", slot, again)
			}
		}
		if c, ok := decode(signature); ok && c.String() == "" {
			t.Errorf("signature %#x has no text", signature)
		}
	})
}

func TestSignaturesSayWhatTheyStandFor(t *testing.T) {
	for what := callBarrier; what < calls; what++ {
		c := call{what: what, kind: 10, op: 7, root: 127, bytes: 4096}
		got, ok := decode(c.signature())
		if !ok || got != c {
			t.Errorf("%v became %v", c, got)
		}
		if c.opening() == c.closing() || c.signature() == c.opening() {
			t.Errorf("%v: the rounds look alike", c)
		}
	}
	if _, ok := decode(3); ok {
		t.Error("a round of package world looks like a collective")
	}
}

func TestShares(t *testing.T) {
	for size := 1; size <= 17; size++ {
		for _, n := range []int{0, 1, 63, 64, 65, 4104, 100000, 1 << 20} {
			end := 0
			for rank := range size {
				from, to := share(rank, size, n)
				if from != end || to < from || from%64 != 0 && from != n {
					t.Errorf("%d bytes, %d ranks: rank %d has %d to %d after %d", n, size, rank, from, to, end)
				}
				end = to
			}
			if end != n {
				t.Errorf("%d bytes, %d ranks: the shares end at %d", n, size, end)
			}
		}
	}
}
