package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/golaunch/golaunch/transport"
)

// stressMessages is how many each sender of each rank sends.
const (
	stressMessages = 6000
	stressSenders  = 3

	// The region: a counter, and for each sender slots, filled one before each message.
	stressSlots     = 64
	stressSlotBytes = 40 << 10
)

// TestStressBetweenProcesses sends in both directions at once, each message behind
// a Put of any length. The receiver looks whether the Put is there, and sends an
// answer, without which its slot is not used again.
func TestStressBetweenProcesses(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			p := startPair(t, "stress", procs)
			check(t, p.stress())
			if n := binary.LittleEndian.Uint64(p.mem); n != stressMessages*stressSenders {
				t.Errorf("rank 1 added %d to the counter, want %d", n, stressMessages*stressSenders)
			}
		})
	}
}

// A stress is one rank's part: credits returns the slots of a sender, one by one.
type stress struct {
	*pair
	credits [stressSenders]chan struct{}
	next    [stressSenders]uint64
	heard   int // answers and messages
	answers chan byte
}

func (p *pair) stress() error {
	p.polling.Store(true)
	s := &stress{pair: p, answers: make(chan byte, stressSenders*stressSlots)}
	result := make(chan error, stressSenders+2)
	for i := range s.credits {
		s.credits[i] = make(chan struct{}, stressSlots)
		for range stressSlots {
			s.credits[i] <- struct{}{}
		}
		go func() { result <- s.send(i) }()
	}
	go func() { result <- s.receive() }()
	go func() { result <- s.answer() }()
	var all []error
	for range cap(result) {
		all = append(all, <-result)
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("rank %d: %w", p.rank, err)
	}
	return p.finish()
}

// finish leaves together with the other rank: neither says goodbye while the
// other still waits for something.
func (p *pair) finish() error {
	p.polling.Store(false)
	if err := p.c.Send([]byte("finished")); err != nil {
		return err
	}
	_, err := p.next()
	return err
}

func (s *stress) slot(sender int, k uint64) transport.Remote {
	at := 64 + (sender*stressSlots+int(k%stressSlots))*stressSlotBytes
	return transport.Remote{Key: s.peer.Key, Offset: int64(at), Len: stressSlotBytes}
}

// size is small mostly, and sometimes longer than what is copied.
func size(k uint64) int {
	if k%16 == 0 {
		return int(k*977) % stressSlotBytes
	}
	return int(k*37) % 300
}

func (s *stress) send(sender int) error {
	msg := make([]byte, 9)
	for k := range uint64(stressMessages) {
		select {
		case <-s.credits[sender]:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
		if err := s.c.Put(s.slot(sender, k), bytes.Repeat([]byte{byte(k)}, size(k)), 0); err != nil {
			return err
		}
		msg[0] = byte(sender)
		binary.LittleEndian.PutUint64(msg[1:], k)
		if err := s.c.Send(msg); err != nil {
			return err
		}
		if err := s.c.FetchAdd(transport.Remote{Key: s.peer.Key, Len: 8}, 1, nil, 0); err != nil {
			return err
		}
	}
	return nil
}

func (s *stress) receive() error {
	defer close(s.answers)
	var done [16]transport.Completion
	for spins := 0; s.heard < 2*stressMessages*stressSenders; spins++ {
		left := 2*stressMessages*stressSenders - s.heard
		n, err := s.e.Poll(done[:min(len(done), left)])
		if err != nil {
			return err
		}
		for _, c := range done[:n] {
			if err := s.hear(c); err != nil {
				return err
			}
		}
		s.heard += n
		if n == 0 {
			s.relax(spins)
			if s.ctx.Err() != nil {
				return fmt.Errorf("after %d: %w", s.heard, s.ctx.Err())
			}
		}
	}
	return nil
}

func (s *stress) hear(c transport.Completion) error {
	switch {
	case c.Err != nil || c.Op != 0:
		return fmt.Errorf("unexpected %+v", c)
	case len(c.Message) == 1:
		s.credits[c.Message[0]] <- struct{}{}
		return nil
	}
	sender, k := int(c.Message[0]), binary.LittleEndian.Uint64(c.Message[1:])
	if k != s.next[sender] {
		return fmt.Errorf("sender %d: message %d in the place of %d", sender, k, s.next[sender])
	}
	s.next[sender]++
	at := s.slot(sender, k).Offset
	if put := s.mem[at:][:size(k)]; !bytes.Equal(put, bytes.Repeat([]byte{byte(k)}, size(k))) {
		return fmt.Errorf("sender %d: message %d came before its Put", sender, k)
	}
	s.answers <- byte(sender)
	return nil
}

// answer sends from a goroutine of its own, for Send may block until somebody
// polls.
func (s *stress) answer() error {
	for sender := range s.answers {
		if err := s.c.Send([]byte{sender}); err != nil {
			return err
		}
	}
	return nil
}
