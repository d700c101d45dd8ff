package shm

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// newRing returns both ends of a ring with size bytes of data.
func newRing(t testing.TB, size int) (*producer, *consumer) {
	t.Helper()
	data, err := overlay(make([]byte, size))
	if err != nil {
		t.Fatal(err)
	}
	head := new(atomic.Uint64)
	return &producer{data: data, head: head}, &consumer{data: data, head: head}
}

func mustTake(t *testing.T, c *consumer) ([]byte, bool) {
	t.Helper()
	msg, ok, err := c.take()
	if err != nil {
		t.Fatal(err)
	}
	return msg, ok
}

func mustOffer(t *testing.T, p *producer, msg []byte) bool {
	t.Helper()
	sent, err := p.offer(msg)
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestHeaderCheck(t *testing.T) {
	const size, number = 1 << 13, 5
	cases := []struct {
		name string
		h    header
		at   int
		good bool
	}{
		{"empty message", makeHeader(5, 0), 0, true},
		{"longest message", makeHeader(5, transport.MaxMessage), 0, true},
		{"message to the end", makeHeader(5, 56), size - 64, true},
		{"message past the end", makeHeader(5, 57), size - 64, false},
		{"message too long", makeHeader(5, transport.MaxMessage+1), 0, false},
		{"length of 32 ones", makeHeader(5, 1<<32-1), 0, false},
		{"another number", makeHeader(6, 0), 0, false},
		{"number 30 bits on", makeHeader(5+1<<30, 0), 0, true},
		{"not ready", makeHeader(5, 0) &^ headerReady, 0, false},
		{"pad to the end", makePad(5, 16), size - 24, true},
		{"shortest pad", makePad(5, 0), size - 8, true},
		{"pad before the end", makePad(5, 8), size - 24, false},
		{"pad past the end", makePad(5, 24), size - 24, false},
		{"pad over everything", makePad(5, size-8), 0, false},
	}
	for _, c := range cases {
		err := c.h.check(number, c.at, size)
		if (err == nil) != c.good || err != nil && !errors.Is(err, errCorrupt) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRingAgainstQueue compares a ring with a slice, over random sends, takes and
// releases; what was taken must stay intact until its release.
func TestRingAgainstQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(transporttest.Seed(t), 2))
	for _, size := range []int{256, 320, 512, 1024, 4096} {
		p, c := newRing(t, size)
		var queue, held [][]byte
		var inPlace [][]byte
		for range 20_000 {
			switch random.IntN(3) {
			case 0:
				msg := randomMessage(random, size/4)
				if mustOffer(t, p, msg) {
					queue = append(queue, msg)
				}
			case 1:
				msg, ok := mustTake(t, c)
				if ok != (len(queue) > 0) {
					t.Fatalf("size %d: take found a message: %v, %d are queued", size, ok, len(queue))
				}
				if ok {
					inPlace, held, queue = append(inPlace, msg), append(held, queue[0]), queue[1:]
				}
			case 2:
				compareHeld(t, inPlace, held)
				inPlace, held = inPlace[:0], held[:0]
				c.release()
			}
		}
	}
}

func randomMessage(random *rand.Rand, longest int) []byte {
	msg := make([]byte, random.IntN(longest))
	for i := range msg {
		msg[i] = byte(random.Uint32())
	}
	return msg
}

func compareHeld(t *testing.T, got, want [][]byte) {
	t.Helper()
	for i := range got {
		if string(got[i]) != string(want[i]) {
			t.Fatalf("a message changed before its release: %x, want %x", got[i], want[i])
		}
	}
}

// TestRingFillsAndEmpties: a full ring refuses, and takes as much again once it
// was released, at every position.
func TestRingFillsAndEmpties(t *testing.T) {
	p, c := newRing(t, ringMinBytes-ringDataAt)
	for round := range 3000 {
		sent := 0
		for mustOffer(t, p, make([]byte, round%200)) {
			sent++
		}
		if least := (len(p.data.bytes)-spare)/recordBytes(round%200) - 1; sent < least {
			t.Fatalf("round %d: only %d messages fit, at least %d should", round, sent, least)
		}
		for range sent {
			if _, ok := mustTake(t, c); !ok {
				t.Fatalf("round %d: a message is missing", round)
			}
		}
		if mustOffer(t, p, make([]byte, round%200)) {
			t.Fatalf("round %d: room was used before it was given back", round)
		}
		c.release()
	}
}

// TestLongestMessageAlwaysFitsAnEmptyRing: at every position, pad included.
func TestLongestMessageAlwaysFitsAnEmptyRing(t *testing.T) {
	p, c := newRing(t, ringMinBytes-ringDataAt)
	for range 3 * len(p.data.bytes) / unitBytes {
		for _, n := range []int{transport.MaxMessage, 0} {
			if !mustOffer(t, p, make([]byte, n)) {
				t.Fatalf("%d bytes at %d do not fit an empty ring", n, p.at)
			}
			if _, ok := mustTake(t, c); !ok {
				t.Fatal("the message is missing")
			}
			c.release()
		}
	}
}

func TestProducerRefusesAHeadThatCannotBe(t *testing.T) {
	for _, head := range []uint64{1 << 63, 2000, ^uint64(0)} {
		p, _ := newRing(t, 512)
		for mustOffer(t, p, make([]byte, 16)) {
			continue
		}
		p.head.Store(head)
		if sent, err := p.offer(make([]byte, 16)); sent || !errors.Is(err, errCorrupt) {
			t.Errorf("head %#x: offer = %v, %v", head, sent, err)
		}
	}
}

func TestConsumerRefusesARecordInRoomItHolds(t *testing.T) {
	p, c := newRing(t, 512)
	for mustOffer(t, p, make([]byte, 16)) {
		if _, ok := mustTake(t, c); !ok {
			t.Fatal("the message is missing")
		}
	}
	p.seen = p.tail // the sender pretends that everything was given back
	if sent, err := p.offer(make([]byte, 16)); !sent || err != nil {
		t.Fatal(sent, err)
	}
	if _, _, err := c.take(); !errors.Is(err, errCorrupt) {
		t.Errorf("take = %v", err)
	}
}

// TestRingBetweenGoroutines: under the race detector this checks that every plain
// access is ordered by the header or by head.
func TestRingBetweenGoroutines(t *testing.T) {
	p, c := newRing(t, 1<<10)
	const count = 100_000
	go func() {
		msg := make([]byte, 256)
		for k := range uint64(count) {
			n := fillNumbered(msg, k)
			for sent := false; !sent; {
				if sent, _ = p.offer(msg[:n]); !sent {
					runtime.Gosched()
				}
			}
		}
	}()
	for k := uint64(0); k < count; {
		msg, ok := mustTake(t, c)
		if !ok {
			c.release()
			runtime.Gosched()
			continue
		}
		if !isNumbered(msg, k) {
			t.Fatalf("message %d is not what was sent: %x", k, msg)
		}
		k++
	}
}

// fillNumbered makes message number k in b, with a checksum, and returns its
// length.
func fillNumbered(b []byte, k uint64) int {
	n := 12 + int(k*k%113)
	binary.LittleEndian.PutUint64(b[4:], k)
	for i := 12; i < n; i++ {
		b[i] = byte(k>>3) + byte(i)
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:n]))
	return n
}

func isNumbered(b []byte, k uint64) bool {
	return len(b) == 12+int(k*k%113) && binary.LittleEndian.Uint64(b[4:]) == k &&
		binary.LittleEndian.Uint32(b) == crc32.ChecksumIEEE(b[4:])
}
