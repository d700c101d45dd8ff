package tcp

import "sync"

// bufferBytes is how much a connection gathers for one write. Connections have a
// buffer only while they have something to write.
const bufferBytes = 32 << 10

// keptBuffers is how many unused ones an endpoint keeps.
const keptBuffers = 64

// buffers is an endpoint's store of buffers of one size.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
	size int
}

// get returns an empty buffer.
func (s *buffers) get() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.free) - 1
	if last < 0 {
		return make([]byte, 0, s.size)
	}
	b := s.free[last]
	s.free[last] = nil
	s.free = s.free[:last]
	return b
}

// put takes one back; nobody uses it any more.
func (s *buffers) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) < keptBuffers {
		s.free = append(s.free, b[:0])
	}
}
