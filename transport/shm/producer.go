package shm

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
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
	p.clear(p.behind(recordBytes(n)))
	p.publish(n)
}

// padFor returns the bytes left before the end when a record does not fit there,
// and 0 when it does.
func (p *producer) padFor(record int) int {
	if p.at+record <= len(p.data.bytes) {
		return 0
	}
	return len(p.data.bytes) - p.at
}

// has tells whether n bytes and the zero word behind them are known to be free.
func (p *producer) has(n int) bool {
	return uint64(n+wordBytes) <= uint64(len(p.data.bytes))-(p.tail-p.seen)
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

func (p *producer) fill(msg []byte) {
	copy(p.data.bytes[p.at+wordBytes:], msg)
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
func (p *producer) store(h header, record int) {
	p.data.words[p.at/wordBytes].Store(uint64(h))
	p.at = p.behind(record)
	p.tail += uint64(record)
	p.number++
}
