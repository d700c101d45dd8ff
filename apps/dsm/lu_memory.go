package main

import (
	"cmp"

	"github.com/golaunch/golaunch/window"
)

// The blocks of lu in the three modes.

func newLuMemory(j *job, b blocks) (luMemory, error) {
	a, err := newArray[float64](j, "lu", b.length())
	l := luBlocks{array: a, blocks: b}
	switch {
	case err != nil:
		return nil, err
	case j.mode == rma:
		return &luRMA{luBlocks: l, kept: map[int][]float64{}}, nil
	case j.mode == calls:
		return &luCalls{luBlocks: l}, nil
	}
	return &luLoads{l}, nil
}

// luBlocks is what the modes have in common.
type luBlocks struct {
	*array[float64]
	blocks
	err error // the first one, until done tells it
}

func (l *luBlocks) memory(i, k int) []float64 {
	return l.part(l.owner(i, k))[l.disp(i, k):][:blockSize]
}

func (l *luBlocks) fetch(i, k int, block []float64) {
	err := l.get(l.owner(i, k), l.disp(i, k), block)
	l.err = cmp.Or(l.err, err)
}

func (l *luBlocks) expect(i, k int) {
	if owner := l.owner(i, k); owner != l.me() {
		err := l.array.expect(owner, l.disp(i, k), blockSize, window.Reading)
		l.err = cmp.Or(l.err, err)
	}
}

func (l *luBlocks) done() error {
	if l.err != nil {
		return l.err
	}
	return l.fence()
}

// luRMA works on own blocks where they are. Each block of others it gets once, and keeps
// while it may be needed, which is until all are done with the step.
type luRMA struct {
	luBlocks
	kept  map[int][]float64 // by the block's number
	spare [][]float64
}

func (l *luRMA) take(i, k int) []float64 { return l.memory(i, k) }
func (l *luRMA) give(int, int)           {}
func (l *luRMA) expect(int, int)         {}

func (l *luRMA) final(i, k int) []float64 {
	if l.owner(i, k) == l.me() {
		return l.memory(i, k)
	}
	at := i*l.n + k
	block := l.kept[at]
	if block == nil {
		block = l.buffer()
		l.kept[at] = block
		l.fetch(i, k, block)
	}
	return block
}

func (l *luRMA) buffer() []float64 {
	last := len(l.spare) - 1
	if last < 0 {
		return make([]float64, blockSize)
	}
	block := l.spare[last]
	l.spare = l.spare[:last]
	return block
}

func (l *luRMA) done() error {
	for at, block := range l.kept {
		l.spare = append(l.spare, block)
		delete(l.kept, at)
	}
	return l.luBlocks.done()
}

// luCalls gets every block when it is needed, and puts what it has changed.
type luCalls struct {
	luBlocks
	mine   [blockSize]float64
	others [2][blockSize]float64 // taking turns: a product needs two
	turn   int
}

func (l *luCalls) take(i, k int) []float64 {
	l.fetch(i, k, l.mine[:])
	return l.mine[:]
}

func (l *luCalls) give(i, k int) {
	err := l.put(l.owner(i, k), l.disp(i, k), l.mine[:])
	l.err = cmp.Or(l.err, err)
}

func (l *luCalls) final(i, k int) []float64 {
	l.turn = 1 - l.turn
	block := l.others[l.turn][:]
	l.fetch(i, k, block)
	return block
}

// luLoads works on all blocks where they are.
type luLoads struct{ luBlocks }

func (l *luLoads) take(i, k int) []float64  { return l.memory(i, k) }
func (l *luLoads) give(int, int)            {}
func (l *luLoads) final(i, k int) []float64 { return l.memory(i, k) }
