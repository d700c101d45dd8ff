package exchange

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table is a sink that remembers.
type table struct {
	payloads map[int][]byte
	entered  map[int]uint32
}

func newTable() *table { return &table{map[int][]byte{}, map[int]uint32{}} }

func (t *table) Store(member int, _ uint64, _, offset int, b []byte) {
	t.payloads[member] = append(t.payloads[member][:offset], b...)
}

func (t *table) Enter(member int, _ uint64, signature uint32, length int) {
	t.payloads[member] = t.payloads[member][:length]
	t.entered[member] = signature
}

// send writes payloads of members 0, 1, ... into messages of at most room bytes.
func send(t *testing.T, room int, round uint64, payloads ...[]byte) (all [][]byte) {
	t.Helper()
	m := Begin(make([]byte, 0, room), round)
	for member, p := range payloads {
		for next, full := m.Add(member, uint32(100+member), p, 0); full; {
			if m.Empty() {
				t.Fatalf("no progress with %d bytes of room", room)
			}
			all = append(all, m.Bytes())
			m = Begin(make([]byte, 0, room), round)
			next, full = m.Add(member, uint32(100+member), p, next)
		}
	}
	return append(all, m.Bytes())
}

// newState is a State with Radix.
func newState(host int, hosts []int) *State {
	_, sources := Route(host, slices.Max(hosts)+1, Radix)
	return NewState(host, hosts, sources)
}

func TestPayloadsArriveWhateverTheRoom(t *testing.T) {
	payloads := [][]byte{{}, []byte("x"), bytes.Repeat([]byte("ab"), MaxPayload/2), []byte("after")}
	for _, room := range []int{headSize + partSize + 1, 100, 1000, 4088, 1 << 20} {
		s, got := newState(1, []int{0, 0, 0, 0, 1}), newTable()
		for i, msg := range send(t, room, 1, payloads...) {
			if s.Received() != 0 {
				t.Errorf("room %d: complete before message %d", room, i)
			}
			if err := s.Accept(0, msg, 0, got); err != nil {
				t.Fatalf("room %d: %v", room, err)
			}
		}
		for m, p := range payloads {
			if !bytes.Equal(got.payloads[m], p) || got.entered[m] != uint32(100+m) {
				t.Errorf("room %d: member %d: %d bytes, signature %d", room, m, len(got.payloads[m]), got.entered[m])
			}
		}
		if s.Received() != 1 || s.Round(3) != 1 {
			t.Errorf("room %d: %v", room, s)
		}
	}
}

func TestHostMayBeARoundAhead(t *testing.T) {
	s, got := newState(1, []int{0, 1, 2}), newTable()
	first, second := send(t, 100, 1, []byte("a"))[0], send(t, 100, 2, []byte("b"))[0]
	other := Begin(make([]byte, 0, 100), 1)
	other.Add(2, 7, []byte("c"), 0)
	for i, step := range []struct {
		from     int
		msg      []byte
		sent     uint64
		received uint64
	}{{1, first, 1, 0}, {1, second, 1, 0}, {0, other.Bytes(), 1, 1}} {
		if err := s.Accept(step.from, step.msg, step.sent, got); err != nil || s.Received() != step.received {
			t.Errorf("step %d: %v, %v", i, s, err)
		}
	}
}

// TestRefusals: each message breaks one rule, and the error says which.
func TestRefusals(t *testing.T) {
	part := func(member uint32, total, offset, n, zeros uint16, b string) []byte {
		p := binary.LittleEndian.AppendUint32(nil, member)
		p = append(p, 9, 0, 0, 0)
		for _, v := range []uint16{total, offset, n, zeros} {
			p = binary.LittleEndian.AppendUint16(p, v)
		}
		return append(p, b...)
	}
	head := func(kind, round uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, kind), round)
	}
	good := head(kindRound, 1)
	for want, msg := range map[string][]byte{
		"0 bytes":                 {},
		"16 bytes":                good,
		"kind 0x3":                slices.Concat(head(3, 1), part(0, 1, 0, 1, 0, "x")),
		"kind 0x100000001":        slices.Concat(head(1<<32|1, 1), part(0, 1, 0, 1, 0, "x")),
		"round 0, but":            slices.Concat(head(kindRound, 0), part(0, 1, 0, 1, 0, "x")),
		"round 2, but":            slices.Concat(head(kindRound, 2), part(0, 1, 0, 1, 0, "x")),
		"3 bytes behind":          slices.Concat(good, part(0, 1, 0, 1, 0, "x"), []byte("abc")),
		"where zeros should be":   slices.Concat(good, part(0, 1, 0, 1, 5, "x")),
		"a payload of 4097":       slices.Concat(good, part(0, 4097, 0, 1, 0, "x")),
		"a part of 2 bytes":       slices.Concat(good, part(0, 2, 0, 2, 0, "x")),
		"a part of 1 bytes":       slices.Concat(good, part(0, 1, 1, 1, 0, "x")),
		"an empty part":           slices.Concat(good, part(0, 1, 0, 0, 0, "")),
		"member 3 of 3":           slices.Concat(good, part(3, 1, 0, 1, 0, "x")),
		"member 4294967295":       slices.Concat(good, part(1<<32-1, 1, 0, 1, 0, "x")),
		"speaks for member 2":     slices.Concat(good, part(2, 1, 0, 1, 0, "x")),
		"speaks for member 1":     slices.Concat(good, part(1, 1, 0, 1, 0, "x")),
		"offset 1 in the payload": slices.Concat(good, part(0, 2, 1, 1, 0, "x")),
		"changed its mind":        slices.Concat(good, part(0, 3, 0, 1, 0, "x"), part(0, 4, 1, 1, 0, "x")),
		"which has entered 1":     slices.Concat(good, part(0, 1, 0, 1, 0, "x"), part(0, 1, 0, 1, 0, "x")),
	} {
		err := newState(1, []int{0, 1, 2}).Accept(1, msg, 0, newTable())
		if !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestVerdictSurvivesTheTrip(t *testing.T) {
	for _, v := range []Verdict{{Member: 3, Failed: -1}, {Member: 0, Failed: 7, Op: "Allreduce", Cause: "rank 7 failed"}} {
		got, err := DecodeVerdict(v.Encode())
		if diff := cmp.Diff(v, got); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	long, err := DecodeVerdict(Verdict{Op: strings.Repeat("o", 5000), Cause: strings.Repeat("c", 5000)}.Encode())
	if err != nil || len(long.Op) != maxText || len(long.Cause) != maxText {
		t.Errorf("%d and %d bytes, %v", len(long.Op), len(long.Cause), err)
	}
}

// FuzzAccept: what a peer sends never stores outside the slots, and a message that
// is accepted has the meaning that sending it again would have.
func FuzzAccept(f *testing.F) {
	m := Begin(make([]byte, 0, 200), 1)
	m.Add(0, 5, []byte("hello"), 0)
	m.Add(1, 5, nil, 0)
	f.Add(m.Bytes())
	f.Fuzz(func(t *testing.T, msg []byte) {
		s := newState(1, []int{0, 0, 1})
		s.Accept(0, msg, 1, bounds{t})
		if f := s.sources[0]; s.received > 2 || f.round > 2 || f.entered >= f.members {
			t.Errorf("%+v", s)
		}
	})
}

type bounds struct{ t *testing.T }

func (b bounds) Store(member int, round uint64, total, offset int, bytes []byte) {
	if member > 1 || round > 2 || offset < 0 || len(bytes) == 0 || offset+len(bytes) > total || total > MaxPayload {
		b.t.Errorf("%d bytes at %d of member %d in round %d", len(bytes), offset, member, round)
	}
}

func (b bounds) Enter(member int, round uint64, _ uint32, length int) {
	if member > 1 || round > 2 || length > MaxPayload {
		b.t.Errorf("member %d, round %d, %d bytes", member, round, length)
	}
}

func FuzzDecodeVerdict(f *testing.F) {
	f.Add(Verdict{Member: 1, Failed: 2, Op: "Bcast", Cause: "why"}.Encode())
	f.Fuzz(func(t *testing.T, msg []byte) {
		v, err := DecodeVerdict(msg)
		if err == nil && !bytes.Equal(v.Encode(), msg) {
			t.Errorf("%+v becomes % x, was % x", v, v.Encode(), msg)
		}
	})
}
