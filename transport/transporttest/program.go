package transporttest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/golaunch/golaunch/transport"
)

// A program is what one origin does, drawn from a seed. Every rank's region is
// laid out alike: shared words, to which every origin adds, and a lane for each
// origin, in which it alone writes. What is left in memory therefore does not
// depend on how the origins interleave, nor on the way the operations took.
const (
	sharedWords = 8
	laneBytes   = 2048
)

type stepKind int

const (
	stepPut stepKind = iota
	stepGet          // of the origin's own lane, which it put into another place of it
	stepAddShared
	stepAddLane
	stepSwapLane
	stepFlush
	stepKinds
)

type step struct {
	kind   stepKind
	target int
	offset int // in the origin's lane, or the number of a shared word
	length int
	value  uint64
}

func regionBytes(ranks int) int { return 8*sharedWords + ranks*laneBytes }

func laneAt(origin int) int { return 8*sharedWords + origin*laneBytes }

func drawProgram(random *rand.Rand, ranks, steps int) []step {
	program := make([]step, steps)
	for i := range program {
		s := &program[i]
		s.kind, s.target, s.value = stepKind(random.IntN(int(stepKinds))), random.IntN(ranks), random.Uint64()
		switch s.kind {
		case stepPut, stepGet:
			s.length = random.IntN(laneBytes / 2)
			s.offset = random.IntN(laneBytes - s.length + 1)
		case stepAddShared:
			s.offset = random.IntN(sharedWords)
		default:
			s.offset = 8 * random.IntN(laneBytes/8)
		}
	}
	return program
}

// A way carries out steps: through a Conn, through mapped memory, or on plain
// memory as the model of both.
type way interface {
	put(target, at int, src []byte) error
	get(target, at int, dst []byte) error
	add(target, at int, delta uint64) (uint64, error)
	swap(target, at int, expect, new uint64) (uint64, error)
	flush(target int) error
}

// execute runs a program of one origin and returns a digest of all it has read
// from its lanes; the old values of shared words depend on the others.
func execute(w way, origin int, program []step) (uint64, error) {
	digest := uint64(14695981039346656037)
	for i, s := range program {
		read, err := executeStep(w, origin, s)
		if err != nil {
			return 0, fmt.Errorf("origin %d, step %d (%+v): %w", origin, i, s, err)
		}
		digest = (digest ^ read) * 1099511628211
	}
	return digest, nil
}

func executeStep(w way, origin int, s step) (read uint64, err error) {
	at := laneAt(origin) + s.offset
	switch s.kind {
	case stepPut:
		return 0, w.put(s.target, at, pattern(s.value, s.length))
	case stepGet:
		dst := make([]byte, s.length)
		err = w.get(s.target, at, dst)
		return sum(dst), err
	case stepAddShared:
		_, err = w.add(s.target, 8*s.offset, s.value)
		return 0, err
	case stepAddLane:
		return w.add(s.target, at, s.value)
	case stepSwapLane:
		return swapTwice(w, s.target, at, s.value)
	default:
		return 0, w.flush(s.target)
	}
}

// swapTwice tries a value that is hardly there, then the one that is.
func swapTwice(w way, target, at int, value uint64) (uint64, error) {
	found, err := w.swap(target, at, value, value+1)
	if err != nil {
		return 0, err
	}
	return w.swap(target, at, found, value)
}

func sum(b []byte) uint64 {
	total := uint64(len(b))
	for _, x := range b {
		total = total*31 + uint64(x)
	}
	return total
}

// plainWay is the model: one byte slice a rank, one origin at a time.
type plainWay [][]byte

func (w plainWay) put(target, at int, src []byte) error { copy(w[target][at:], src); return nil }
func (w plainWay) get(target, at int, dst []byte) error { copy(dst, w[target][at:]); return nil }
func (w plainWay) flush(int) error                      { return nil }

func (w plainWay) add(target, at int, delta uint64) (uint64, error) {
	old := binary.NativeEndian.Uint64(w[target][at:])
	binary.NativeEndian.PutUint64(w[target][at:], old+delta)
	return old, nil
}

func (w plainWay) swap(target, at int, expect, new uint64) (uint64, error) {
	old := binary.NativeEndian.Uint64(w[target][at:])
	if old == expect {
		binary.NativeEndian.PutUint64(w[target][at:], new)
	}
	return old, nil
}

// connWay goes through the connections of an origin. Operations are completed
// one by one: nothing but a Flush orders them.
type connWay struct {
	node    *node
	regions []shared
}

func (w connWay) at(target, at, n int) transport.Remote {
	return w.regions[target].part(int64(at), int64(n))
}

func (w connWay) put(target, at int, src []byte) error {
	return w.node.put(target, w.at(target, at, len(src)), src)
}

func (w connWay) get(target, at int, dst []byte) error {
	return w.node.get(target, dst, w.at(target, at, len(dst)))
}

func (w connWay) add(target, at int, delta uint64) (uint64, error) {
	return w.node.fetchAdd(target, w.at(target, at, 8), delta)
}

func (w connWay) swap(target, at int, expect, new uint64) (uint64, error) {
	return w.node.compareSwap(target, w.at(target, at, 8), expect, new)
}

func (w connWay) flush(target int) error { return w.node.flush(target) }
