package shm

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/relax"
)

// A producer is the sending end of a ring. One goroutine at a time.
//
// Each method touches shared state that the consumer synchronises on at most
// once; offer is their only order that is correct, and the one the exhaustive
// test explores.
type producer struct {
	data memory
	head *atomic.Uint64 // written by the consumer

	at     int    // where the next record goes; Invariant: 0 <= at < len(data.bytes)
	tail   uint64 // bytes written since the beginning
	seen   uint64 // head as last looked at; Invariant: seen <= head <= tail
	number uint32 // of the next record
	zero   int    // where the word is 0 as far as this side knows, behind the one at tail
}

// offer writes msg as one record. false: there is no room now.
func (p *producer) offer(msg []byte) (bool, error) {
	if ok, err := p.reserve(len(msg)); !ok {
		return false, err
	}
	p.fill(msg)
	p.commit(len(msg))
	return true, nil
}

// gather is offer for a message in two parts. It is false also if the ring is
// corrupt.
func (p *producer) gather(head *[3]uint64, body []byte) bool {
	n := gathered(body)
	if ok, _ := p.reserve(n); !ok {
		return false
	}
	p.fillUnits(head, body)
	p.commit(n)
	return true
}

// gathered is the length of a message with such a body.
func gathered(body []byte) int { return 3*wordBytes + len(body) }

// reserve finds room for a message of n bytes, which goes behind the header at at.
// false: there is none now. commit follows, at some time; nothing else may.
func (p *producer) reserve(n int) (bool, error) {
	record := recordBytes(n)
	pad := p.padFor(record)
	if !p.has(pad + record) {
		if err := p.look(); err != nil || !p.has(pad+record) {
			return false, err
		}
	}
	if pad > 0 {
		p.clear(0)
		p.publishPad(pad)
	}
	return true, nil
}

// commit publishes the message of n bytes that room was reserved for.
func (p *producer) commit(n int) {
	if next := p.behind(recordBytes(n)); next != p.zero {
		p.clear(next)
	}
	p.publish(n)
	p.clearAhead()
}

// padFor returns the bytes left before the end when a record does not fit there,
// and 0 when it does.
func (p *producer) padFor(record int) int {
	if p.at+record <= len(p.data.bytes) {
		return 0
	}
	return len(p.data.bytes) - p.at
}

// has tells whether n bytes and the zero words behind them are known to be free.
func (p *producer) has(n int) bool {
	return uint64(n+spare) <= uint64(len(p.data.bytes))-(p.tail-p.seen)
}

// look reads how far the consumer is.
func (p *producer) look() error {
	head := p.head.Load()
	if head-p.seen > p.tail-p.seen {
		return fmt.Errorf("%w: head %d is not between %d and %d", errCorrupt, head, p.seen, p.tail)
	}
	p.seen = head
	return nil
}

// clear makes the word at place at say "nothing here yet".
func (p *producer) clear(at int) {
	binary.LittleEndian.PutUint64(p.data.bytes[at:], 0)
}

// clearAhead does that for the record after the next one, if that has one unit.
func (p *producer) clearAhead() {
	p.zero = p.behind(unitBytes)
	p.clear(p.zero)
}

func (p *producer) fill(msg []byte) {
	copy(p.data.bytes[p.at+wordBytes:], msg)
}

// fillUnits writes what lies in the first unit last, in one go: the receiver looks
// at that line all the time, and each of its looks between two stores takes the
// line away again.
func (p *producer) fillUnits(head *[3]uint64, body []byte) {
	const first = unitBytes - wordBytes - 3*wordBytes // of body, in the first unit
	room := p.data.bytes[p.at+wordBytes:][:gathered(body)]
	if len(body) > first {
		copy(room[unitBytes-wordBytes:], body[first:])
		body = body[:first]
	}
	binary.LittleEndian.PutUint64(room, head[0])
	binary.LittleEndian.PutUint64(room[wordBytes:], head[1])
	binary.LittleEndian.PutUint64(room[2*wordBytes:], head[2])
	copy(room[3*wordBytes:], body)
}

// behind is where the record after one of the given size begins.
func (p *producer) behind(record int) int {
	if next := p.at + record; next < len(p.data.bytes) {
		return next
	}
	return 0
}

func (p *producer) publishPad(pad int) {
	p.store(makePad(p.number, pad-wordBytes), pad)
}

func (p *producer) publish(length int) {
	p.store(makeHeader(p.number, length), recordBytes(length))
}

// store is the release: the consumer that sees h sees everything written before.
// The sender looks after it whether the receiver sleeps, and lets go of the
// outbox's mutex in between, which is the fence that this needs.
func (p *producer) store(h header, record int) {
	relax.Store(&p.data.words[p.at/wordBytes], uint64(h))
	p.at = p.behind(record)
	p.tail += uint64(record)
	p.number++
}
