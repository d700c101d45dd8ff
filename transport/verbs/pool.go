//go:build cgo && linux

package verbs

import "sync"

// Bounce buffers carry what lies in memory that the device does not know. Short
// requests and long ones have pools of their own, so that one cannot starve the
// other.
const (
	smallBytes, smallCount = 4 << 10, 256
	largeBytes, largeCount = 64 << 10, 32
)

// A pool is registered memory, cut into pieces of one size.
type pool struct {
	memory *memory
	bytes  int

	mu   sync.Mutex
	free []int32
}

func (p *pool) open(d *domain, bytes, count int) (err error) {
	p.bytes = bytes
	for i := range count {
		p.free = append(p.free, int32(i))
	}
	p.memory, err = d.register(make([]byte, bytes*count), false)
	return err
}

// get takes a piece. ok is false when all are in use; then, and when scarce is
// true, every request is signalled, so that they come back.
func (p *pool) get() (piece int32, scarce, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return 0, true, false
	}
	piece = p.free[last]
	p.free = p.free[:last]
	return piece, last < cap(p.free)/2, true
}

func (p *pool) put(piece int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, piece)
}

// at returns n bytes of a piece.
func (p *pool) at(piece int32, n int) []byte {
	start := int(piece) * p.bytes
	return p.memory.mem[start : start+n : start+p.bytes]
}

func (p *pool) close() error {
	if p.memory == nil {
		return nil
	}
	return p.memory.close()
}
