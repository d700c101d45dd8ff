package transporttest

import (
	"sync/atomic"
	"unsafe"
)

// mappedWay is loads, stores and CPU atomics on mapped memory, a slice a rank.
type mappedWay [][]byte

func (w mappedWay) word(target, at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&w[target][at : at+8][0]))
}

func (w mappedWay) put(target, at int, src []byte) error { copy(w[target][at:], src); return nil }
func (w mappedWay) get(target, at int, dst []byte) error { copy(dst, w[target][at:]); return nil }
func (w mappedWay) flush(int) error                      { return nil }

func (w mappedWay) add(target, at int, delta uint64) (uint64, error) {
	return w.word(target, at).Add(delta) - delta, nil
}

func (w mappedWay) swap(target, at int, expect, new uint64) (uint64, error) {
	for {
		if old := w.word(target, at).Load(); old != expect {
			return old, nil
		}
		if w.word(target, at).CompareAndSwap(expect, new) {
			return expect, nil
		}
	}
}
