package tcp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/tcp/wire"
)

// atomic carries out a FetchAdd or a CompareSwap with the CPU's instructions, which
// whoever has the memory mapped uses as well.
func (p *peer) atomic(h *wire.Header) reply {
	word, err := p.e.word(h.Key, h.Offset)
	if err != nil {
		return reply{kind: wire.Refusal, value: uint64(reasonOf(err))}
	}
	return reply{kind: wire.Value, value: operateOn(word, h, binary.LittleEndian.Uint64(p.rx.operand[:]))}
}

// operateOn does what h says and returns what the word held.
func operateOn(word *atomic.Uint64, h *wire.Header, operand uint64) uint64 {
	if h.Kind == wire.FetchAdd {
		return word.Add(h.Value) - h.Value
	}
	return compareSwap(word, h.Value, operand)
}

// word returns the word at offset of a region.
func (e *endpoint) word(key uint64, offset int64) (*atomic.Uint64, error) {
	mem, err := e.regions.find(key, offset, wire.WordBytes)
	if err != nil {
		return nil, err
	}
	if word := wordAt(mem); word != nil {
		return word, nil
	}
	return nil, transport.ErrAlign
}

// compareSwap returns what the word held. The loop goes on only when the word
// changed between the load and the swap.
func compareSwap(word *atomic.Uint64, expect, new uint64) uint64 {
	for {
		if earlier := word.Load(); earlier != expect {
			return earlier
		}
		if word.CompareAndSwap(expect, new) {
			return expect
		}
	}
}
