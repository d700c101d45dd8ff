package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// stressMessages is how many each rank sends, at each GOMAXPROCS.
func stressMessages() int {
	if raceEnabled {
		return 60_000
	}
	return 600_000
}

const (
	stressSenders = 3 // goroutines of each rank

	// The shared region: a counter, and for each sender slots that it fills, one
	// before each message.
	stressSlots = 1024
	sharedBytes = 64 + stressSenders*stressSlots*8
)

// TestStressBetweenProcesses sends in both directions at once, each message
// behind a Put. The receiver checks the checksum, each sender's order, and that
// the Put is there.
func TestStressBetweenProcesses(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			p := startPair(t, "stress", procs)
			check(t, p.stress())
			counter := p.segments[1][p.place():]
			if n := binary.NativeEndian.Uint64(counter); n != uint64(2*stressMessages()) {
				t.Errorf("the ranks added %d to the counter, want %d", n, 2*stressMessages())
			}
		})
	}
}

// place is where the shared region lies in either segment: the first thing after
// the control block.
func (p *pair) place() int { return (controlBytes(2) + lineBytes - 1) &^ (lineBytes - 1) }

// stress sends and receives at once. At the end the ranks tell each other that
// they have everything, so that neither leaves the other waiting.
func (p *pair) stress() error {
	result := make(chan error, stressSenders+1)
	for s := range stressSenders {
		go func() { result <- p.sendStress(s) }()
	}
	go func() { result <- p.receiveStress() }()
	var all []error
	for range cap(result) {
		all = append(all, <-result)
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("rank %d: %w", p.rank, err)
	}
	return p.finish()
}

func (p *pair) finish() error {
	if err := p.c.Send([]byte("finished")); err != nil {
		return err
	}
	done := make([]transport.Completion, 1)
	return p.pollOne(done)
}

func (p *pair) sendStress(s int) error {
	msg, word := make([]byte, 256), make([]byte, 8)
	conn, counter := p.counter()
	for k := range uint64(stressMessages() / stressSenders) {
		binary.NativeEndian.PutUint64(word, k)
		if err := p.c.Put(p.slot(s, k), word, 0); err != nil {
			return err
		}
		n := fillNumbered(msg[1:], k)
		msg[0] = byte(s)
		if err := p.c.Send(msg[:1+n]); err != nil {
			return err
		}
		if err := conn.FetchAdd(counter, 1, nil, 0); err != nil {
			return err
		}
	}
	return nil
}

// counter is in rank 1's region.
func (p *pair) counter() (transport.Conn, transport.Remote) {
	if p.rank == 1 {
		return p.self, transport.Remote{Key: p.own.Key, Len: 8}
	}
	return p.c, transport.Remote{Key: p.peer.Key, Len: 8}
}

// slot is where sender s of this rank puts number k, at the peer.
func (p *pair) slot(s int, k uint64) transport.Remote {
	return transport.Remote{Key: p.peer.Key, Offset: int64(64 + 8*(s*stressSlots+int(k%stressSlots))), Len: 8}
}

func (p *pair) receiveStress() error {
	var next [stressSenders]uint64
	slots := p.segments[p.rank][p.place()+64:]
	done := make([]transport.Completion, 64)
	total := stressMessages()
	for got, spins := 0, 0; got < total; spins++ {
		// One less than what is missing, at most: the word that ends the test is
		// not for this loop.
		n, err := p.e.Poll(done[:min(len(done), total-got)])
		if err != nil {
			return err
		}
		for _, d := range done[:n] {
			if err := p.checkStress(d, &next, slots); err != nil {
				return fmt.Errorf("message %d: %w", got, err)
			}
			got++
		}
		if n == 0 {
			if p.ctx.Err() != nil {
				return p.ctx.Err()
			}
			p.relax(spins)
		}
	}
	return nil
}

func (p *pair) checkStress(d transport.Completion, next *[stressSenders]uint64, slots []byte) error {
	if d.Err != nil || len(d.Message) < 1 || int(d.Message[0]) >= stressSenders {
		return fmt.Errorf("strange completion %+v", d)
	}
	s := int(d.Message[0])
	k := next[s]
	next[s]++
	if !isNumbered(d.Message[1:], k) {
		return fmt.Errorf("number %d of sender %d reads %x", k, s, d.Message)
	}
	// The slot holds k, or what the sender has put there since.
	put := wordAt(slots[8*(s*stressSlots+int(k%stressSlots)):]).Load()
	if put < k || put%stressSlots != k%stressSlots {
		return fmt.Errorf("number %d of sender %d came before its Put: the slot holds %d", k, s, put)
	}
	return nil
}

// BenchmarkPingPong is a message of 8 bytes to the other process and back.
func BenchmarkPingPong(b *testing.B) {
	for _, size := range []int{8, 1024} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) { benchmarkPingPong(b, size) })
	}
}

func benchmarkPingPong(b *testing.B, size int) {
	p := startPair(b, "echo", 2)
	msg, done := make([]byte, size), make([]transport.Completion, 1)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := p.c.Send(msg); err != nil {
			b.Fatal(err)
		}
		if err := p.pollOne(done); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	check(b, p.c.Send(nil)) // an empty message ends the echo
}

// echo sends every message back, in place, until an empty one comes.
func (p *pair) echo() error {
	done := make([]transport.Completion, 1)
	for {
		if err := p.pollOne(done); err != nil || len(done[0].Message) == 0 {
			return err
		}
		if err := p.c.Send(done[0].Message); err != nil {
			return err
		}
	}
}
