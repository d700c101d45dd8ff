package line

import (
	"fmt"
	"testing"
)

// A handshake is the protocol of a ring's sent and asleep as a machine: each step is one load or one store
// of a process, or one thing that the kernel does. It is explored whole, for as many frames as a reader
// can be behind by.
type handshake struct {
	fault fault
	bell  bool // the reader sleeps at an eventfd, as a pager does, and not at the word itself

	writer, reader  place
	toSend          int8
	sent, taken     int8
	asleep          bool
	sawAsleep       bool // by the writer's last load
	sawSent         int8 // by the reader's last one
	blocked, ringed bool // the reader waits to be woken; the bell has rung and was not heard
	late            bool // fault: the writer's store of sent is still on its way
	lateAsleep      bool // and the reader's of asleep
}

// A place is where a process is in its program.
type place int8

const (
	idle     place = iota // the writer is about to send, the reader to look for something
	drowsing              // the reader is about to say that it sleeps
	looking               // the writer is about to load asleep, the reader sent once again
	clearing              // the writer is about to make asleep 0
	waking                // the writer is about to wake the reader
	sleeping              // the reader is about to sleep
	inKernel              // the reader sleeps
	rousing               // the reader is about to say that it does not
	over
)

// A fault is a mistake that the exploration must find.
type fault int

const (
	none         fault = iota
	looksFirst         // the writer loads asleep before it counts the frame
	looksNoMore        // the reader does not look again when it has said that it sleeps
	writerBuffer       // the writer's store is seen after its load: no fence between
	readerBuffer       // the reader's
	clearsBlind        // the writer wakes nobody: it believes that who is called asleep is about to look
	faults
)

// next returns the states that may follow.
func (h handshake) next() (all []handshake) {
	for _, step := range []func(*handshake) bool{(*handshake).write, (*handshake).read, (*handshake).arrive, (*handshake).arriveAsleep} {
		n := h
		if step(&n) {
			all = append(all, n)
		}
	}
	return all
}

func (h *handshake) write() bool {
	switch h.writer {
	case idle:
		if h.fault == looksFirst {
			h.sawAsleep = h.asleep
			h.writer = looking
			return true
		}
		return h.count()
	case looking:
		if h.fault == looksFirst {
			return h.count()
		}
		h.sawAsleep = h.asleep
		h.writer = clearing
	case clearing:
		if h.sawAsleep && h.asleep { // compare and swap
			h.asleep = false
			h.writer = waking
		} else {
			h.sentOne()
		}
	case waking:
		switch {
		case h.fault == clearsBlind:
		case h.bell:
			h.ringed = true
		default:
			h.blocked = false
		}
		h.sentOne()
	default:
		return false
	}
	return true
}

// count is the store of sent.
func (h *handshake) count() bool {
	if h.late { // a processor's stores are seen in their order
		return false
	}
	h.toSend--
	if h.late = h.fault == writerBuffer; !h.late {
		h.sent++
	}
	if h.writer == idle {
		h.writer = looking
	} else {
		h.writer = clearing
	}
	return true
}

func (h *handshake) sentOne() {
	if h.writer = idle; h.toSend == 0 {
		h.writer = over
	}
}

func (h *handshake) read() bool {
	switch h.reader {
	case idle:
		if h.sawSent = h.sent; h.taken < h.sawSent {
			h.taken++
		} else {
			h.reader = drowsing
		}
	case drowsing:
		if h.lateAsleep = h.fault == readerBuffer; !h.lateAsleep {
			h.asleep = true
		}
		h.reader = looking
	case looking:
		if h.fault != looksNoMore {
			h.sawSent = h.sent
		}
		if h.reader = sleeping; h.taken < h.sawSent {
			h.reader = rousing
		}
	case sleeping:
		h.blocked = h.bell || h.asleep // FUTEX_WAIT looks at the word before it sleeps
		h.reader = inKernel
	case inKernel:
		if h.bell && h.ringed {
			h.blocked, h.ringed = false, false
		}
		if h.blocked {
			return false
		}
		h.reader = rousing
	case rousing:
		if h.lateAsleep {
			return false
		}
		h.asleep = false
		h.reader = idle
	}
	return true
}

// arrive and arriveAsleep are stores that others see late.
func (h *handshake) arrive() bool {
	if !h.late {
		return false
	}
	h.late = false
	h.sent++
	return true
}

func (h *handshake) arriveAsleep() bool {
	if !h.lateAsleep {
		return false
	}
	h.lateAsleep, h.asleep = false, true
	return true
}

// explore visits every state. In one from which nothing follows everything must have been taken.
func explore(start handshake) (states int, err error) {
	seen := map[handshake]bool{start: true}
	for stack := []handshake{start}; len(stack) > 0; {
		h := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		all := h.next()
		if len(all) == 0 && h.taken < h.sent {
			return len(seen), fmt.Errorf("a frame lies there, and its reader sleeps: %+v", h)
		}
		for _, n := range all {
			if !seen[n] {
				seen[n] = true
				stack = append(stack, n)
			}
		}
	}
	return len(seen), nil
}

func TestEveryInterleaving(t *testing.T) {
	for _, bell := range []bool{false, true} {
		for frames := int8(1); frames <= 4; frames++ {
			states, err := explore(handshake{bell: bell, toSend: frames})
			if err != nil {
				t.Errorf("%d frames, by a bell: %v: %v", frames, bell, err)
			}
			t.Logf("%d frames, by a bell: %v: %d states", frames, bell, states)
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	for f := none + 1; f < faults; f++ {
		for _, bell := range []bool{false, true} {
			if states, err := explore(handshake{fault: f, bell: bell, toSend: 2}); err == nil {
				t.Errorf("fault %d, by a bell: %v: not found in %d states", f, bell, states)
			}
		}
	}
}
