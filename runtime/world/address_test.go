package world

import (
	"bytes"
	"testing"

	"github.com/golaunch/golaunch/runtime/job"
)

func TestAddressSurvivesTheTrip(t *testing.T) {
	for _, far := range [][]byte{nil, []byte("somewhere")} {
		b, err := encodeAddress([]byte("here"), far)
		if err != nil {
			t.Fatal(err)
		}
		n, f, err := decodeAddress(b)
		if err != nil || string(n) != "here" || !bytes.Equal(f, far) {
			t.Errorf("%q and %q, %v", n, f, err)
		}
	}
	for _, n := range []int{0, 256} {
		if _, err := encodeAddress(make([]byte, n), nil); err == nil {
			t.Errorf("an address of %d bytes was encoded", n)
		}
	}
}

// The longest addresses of both transports fit into the job's memory.
func TestLongestAddressFits(t *testing.T) {
	b, err := encodeAddress(make([]byte, 32), make([]byte, 244))
	if err != nil || len(b) > job.MaxAddress {
		t.Errorf("%d bytes, %v; at most %d are possible", len(b), err, job.MaxAddress)
	}
}

func FuzzDecodeAddress(f *testing.F) {
	f.Add([]byte{4, 'h', 'e', 'r', 'e', 't'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		near, far, err := decodeAddress(b)
		if err != nil {
			return
		}
		if again, err := encodeAddress(near, far); err != nil || !bytes.Equal(again, b) {
			t.Errorf("% x becomes % x, %v", b, again, err)
		}
	})
}
