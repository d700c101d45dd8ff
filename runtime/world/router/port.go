package router

import (
	"encoding/binary"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
)

// PrefixSize is what Send puts in front of each message: the port's number (4
// bytes, little-endian) and 4 bytes of zeros.
const PrefixSize = 8

// A Handler takes a message, where it was seen. msg is valid during the call
// only. It must not block, wait or Send, nor open or close ports.
type Handler func(from int, msg []byte)

// A Port is where messages arrive. Messages of one rank come in order.
type Port struct {
	number uint32
	ports  *ports
	handle Handler
}

// ports are the open ones. The map is never changed, only replaced: deliver takes
// no lock. Ports with small numbers are in fixed as well.
type ports struct {
	open   atomic.Pointer[map[uint32]*Port]
	fixed  [FirstPort]atomic.Pointer[Port]
	router *Router

	mu   sync.Mutex
	last uint32
}

// FirstPort is the number of the first port that Open chooses. Smaller ones are
// given out by OpenAt and mean the same at every rank.
const FirstPort = 16

func (p *ports) init(r *Router) {
	p.router = r
	p.open.Store(&map[uint32]*Port{})
	p.last = FirstPort - 1
}

// Open makes a port with a number of its own, which is never used again.
func (r *Router) Open(handle Handler) *Port {
	r.ports.mu.Lock()
	r.ports.last++
	number := r.ports.last
	r.ports.mu.Unlock()
	return r.ports.add(number, handle)
}

// OpenAt makes a port with a number below FirstPort that is not open.
func (r *Router) OpenAt(number uint32, handle Handler) *Port { return r.ports.add(number, handle) }

func (p *ports) add(number uint32, handle Handler) *Port {
	port := &Port{number: number, ports: p, handle: handle}
	p.replace(func(open map[uint32]*Port) { open[number] = port })
	return port
}

func (p *ports) replace(change func(map[uint32]*Port)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	open := maps.Clone(*p.open.Load())
	change(open)
	p.open.Store(&open)
	for number := range p.fixed {
		p.fixed[number].Store(open[uint32(number)])
	}
}

// Number is what senders need. It means something at this rank only.
func (p *Port) Number() uint32 { return p.number }

// Close returns when no handler runs any more. Messages that come later are
// dropped. Closing again does nothing.
func (p *Port) Close() {
	p.ports.replace(func(open map[uint32]*Port) {
		if open[p.number] == p {
			delete(open, p.number)
		}
	})
	p.ports.router.turn.Lock() // a handler that was found before runs no more
	p.ports.router.Release()
}

// deliver takes a message to its port. A port that is not open was closed: its
// messages are late. The error is the sender's fault.
func (p *ports) deliver(from int, msg []byte) error {
	if len(msg) < PrefixSize {
		return fmt.Errorf("a message of %d bytes, want at least %d", len(msg), PrefixSize)
	}
	prefix := binary.LittleEndian.Uint64(msg)
	if zeros := prefix >> 32; zeros != 0 {
		return fmt.Errorf("a message with %#x where zeros should be", zeros)
	}
	if port := p.find(uint32(prefix)); port != nil {
		port.handle(from, msg[PrefixSize:])
	}
	return nil
}

func (p *ports) find(number uint32) *Port {
	if number < FirstPort {
		return p.fixed[number].Load()
	}
	return (*p.open.Load())[number]
}

// Prefix is the little-endian word that stands before a message to a port.
func Prefix(number uint32) uint64 { return uint64(number) }

// PutPrefix writes it.
func PutPrefix(buf []byte, number uint32) { binary.LittleEndian.PutUint64(buf, Prefix(number)) }

// close closes all of them.
func (p *ports) close() {
	for _, port := range *p.open.Load() {
		port.Close()
	}
}
