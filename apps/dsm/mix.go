package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// mix finds out when a coherent window pays: every rank reads words at random, anybody's, and
// adds 1 to some, which are anybody's as well. Of a thousand accesses size are additions.
func mix(j *job) error { return mixWith(j, func(ranks int) int { return rand.IntN(ranks) }) }

// feed is mix where every rank adds to its own words only.
func feed(j *job) error { return mixWith(j, func(int) int { return j.me() }) }

const (
	mixWords = 64 * 512 // of a rank: 64 pages
	thousand = 1000
)

type mixer struct {
	*array[int64]
	owner func(ranks int) int // of the next word to add to
	known [][]int64           // what each word was when it was seen last
	added int64
}

func mixWith(j *job, owner func(int) int) error {
	a, err := newArray[int64](j, "mix", mixWords)
	if err != nil {
		return err
	}
	m := &mixer{array: a, owner: owner}
	for range j.ranks() {
		m.known = append(m.known, make([]int64, mixWords))
	}
	if err := j.time(m.access); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	return a.free()
}

func (m *mixer) access() error {
	for range m.steps * thousand {
		var err error
		if disp := rand.IntN(mixWords); rand.IntN(thousand) < m.size {
			m.added++
			err = m.increment(m.owner(m.ranks()), disp)
		} else {
			err = m.look(rand.IntN(m.ranks()), disp)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *mixer) increment(rank, disp int) error {
	if m.whole != nil {
		atomic.AddInt64(&m.part(rank)[disp], 1)
		return nil
	}
	m.count(rank, 1)
	_, err := m.win.FetchAdd(rank, disp, 1)
	return err
}

// look reads a word, which never becomes less.
func (m *mixer) look(rank, disp int) error {
	var value [1]int64
	if m.whole != nil {
		value[0] = atomic.LoadInt64(&m.part(rank)[disp])
	} else if err := m.get(rank, disp, value[:]); err != nil {
		return err
	}
	known := &m.known[rank][disp]
	if value[0] < *known {
		return fmt.Errorf("verify: word %d of rank %d was %d and is %d", disp, rank, *known, value[0])
	}
	*known = value[0]
	return nil
}

// check holds the sum of all words against the number of additions.
func (m *mixer) check() error {
	if err := m.fence(); err != nil {
		return err
	}
	mine := make([]int64, mixWords)
	if err := m.read(m.me(), 0, mine); err != nil {
		return err
	}
	difference := -m.added
	for _, v := range mine {
		difference += v
	}
	sum, err := m.total(difference)
	if err == nil && m.verify && sum != 0 {
		err = m.differ("sum of words, less additions,", 0, sum, 0)
	}
	return err
}
