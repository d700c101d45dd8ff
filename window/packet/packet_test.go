package packet

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// full are packets of every kind with all the fields that the kind has.
func full() (all []Packet) {
	for kind, has := range fields {
		p := Packet{Kind: kind, Data: []byte{}}
		if has.op {
			p.Op = 3
		}
		if has.mode {
			p.Mode = 2
		}
		if has.count {
			p.Count = math.MaxUint32
		}
		if has.token {
			p.Token = 1<<63 + 5
		}
		if has.disp {
			p.Disp = math.MaxUint64
		}
		if has.data {
			p.Data = []byte("elements")
		}
		all = append(all, p)
	}
	return all
}

func TestPacketsSurvive(t *testing.T) {
	for _, p := range full() {
		got, err := Decode(p.Encode(nil))
		if diff := cmp.Diff(p, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

// Every byte of the head that a kind has no use for is looked at.
func TestStrangeFields(t *testing.T) {
	for kind := range 256 {
		has, known := fields[Kind(kind)]
		for _, c := range []struct {
			at  int
			has bool
		}{{1, has.op}, {2, has.mode}, {3, false}, {4, has.count}, {7, has.count}, {8, has.token}, {16, has.disp}, {23, has.disp}, {24, has.data}} {
			p := Packet{Kind: Kind(kind)}
			if has.token {
				p.Token = 1
			}
			b := p.Encode(nil)
			if c.at == Head {
				b = append(b, 0)
			} else {
				b[c.at] = 9
			}
			if _, err := Decode(b); (err == nil) != (known && c.has) {
				t.Errorf("kind %d with a byte at %d: %v", kind, c.at, err)
			}
		}
	}
}

func TestRefusedPackets(t *testing.T) {
	long := (&Packet{Kind: Done, Token: 1, Data: make([]byte, MaxData+1)}).Encode(nil)
	for want, b := range map[string][]byte{
		"a packet of 0 bytes, want 24 to 4088":     nil,
		"a packet of 23 bytes, want 24 to 4088":    make([]byte, Head-1),
		"a packet of 4089 bytes, want 24 to 4088":  long,
		"a packet of kind 0, which there is not":   make([]byte, Head),
		"a packet of kind 4 that nobody waits for": (&Packet{Kind: Flush}).Encode(nil),
	} {
		if _, err := Decode(b); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Decode(long[:MaxSize]); err != nil {
		t.Error(err)
	}
}

func TestErrorsSurvive(t *testing.T) {
	failed := &job.RankFailedError{Rank: 7, Host: "node-b", Cause: "signal 9 (killed)"}
	whole := &group.BrokenError{What: `window "halo"`, Rank: 3, Op: "Fence", Cause: "impatient"}
	because := &group.BrokenError{What: "w", Rank: 3, Op: "Fence", Cause: failed.Error(), Failed: failed}
	for _, err := range []error{errors.New("out of luck"), errors.New(""), failed, whole, because} {
		got := DecodeError(EncodeError(nil, err))
		if diff := cmp.Diff(err, got, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() && fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) })); diff != "" {
			t.Error(diff)
		}
	}
	var found *job.RankFailedError
	if got := DecodeError(EncodeError(nil, fmt.Errorf("Lock: %w", because))); !errors.As(got, &found) || *found != *failed {
		t.Errorf("%v has %+v", got, found)
	}
	for _, err := range []error{errors.New(strings.Repeat("x", 5000)), &group.BrokenError{What: strings.Repeat("x", 5000), Op: strings.Repeat("y", 5000),
		Cause: strings.Repeat("z", 5000), Failed: &job.RankFailedError{Host: strings.Repeat("h", 5000), Cause: strings.Repeat("c", 5000)}}} {
		b := EncodeError(nil, err)
		if len(b) > MaxData || strings.Contains(DecodeError(b).Error(), "cannot be read") {
			t.Errorf("%d bytes: %v", len(b), DecodeError(b))
		}
	}
}

// FuzzDecode: a packet comes from another process.
func FuzzDecode(f *testing.F) {
	for _, p := range full() {
		f.Add(p.Encode(nil))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		if again := p.Encode(nil); string(again) != string(b) {
			t.Errorf("% x is read as %+v", b, p)
		}
	})
}

func FuzzDecodeError(f *testing.F) {
	failed := &job.RankFailedError{Rank: 7, Host: "node-b", Cause: "signal 9 (killed)"}
	f.Add(EncodeError(nil, failed))
	f.Add(EncodeError(nil, &group.BrokenError{What: "w", Rank: 3, Op: "Fence", Cause: failed.Error(), Failed: failed}))
	f.Add(EncodeError(nil, errors.New("out of luck")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := DecodeError(b); err == nil {
			t.Errorf("% x is no error", b)
		}
	})
}
