package main

// is sorts integers by counting (NAS IS). The keys are divided among the ranks; each
// round they change a little, every rank counts its own, the counts are added up in
// an array over all ranks, and each rank finds from that the place of its keys in the
// sorted order.
func is(j *job) error {
	memory, err := newIsMemory(j)
	if err != nil {
		return err
	}
	first, end := share(j.size, j.me(), j.ranks())
	s := &sorter{job: j, memory: memory, first: first, keys: isKeys(first, end)}
	s.counts, s.totals = make([]int64, keyRange), make([]int64, memory.length())
	if err := j.time(s.sort); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return memory.free()
}

// keyRange is what keys are below. Of less than a page for each rank, pages would be
// shared falsely.
const keyRange = 1 << 14

// isMemory is where the counts are added up.
type isMemory interface {
	// sum adds up every rank's counts, and stores the sums in totals. All ranks call it.
	sum(counts, totals []int64) error
	length() int // of totals
	free() error
}

type sorter struct {
	*job
	memory isMemory
	first  int // of the own keys
	keys   []int
	counts []int64 // of the own keys
	totals []int64 // of all, later where each key's place begins
	places []int64 // of the own keys
}

func (s *sorter) sort() error {
	s.places = make([]int64, len(s.keys))
	for round := range s.steps {
		changeKeys(s.keys, s.first, s.size, round)
		clear(s.counts)
		for _, key := range s.keys {
			s.counts[key]++
		}
		if err := s.memory.sum(s.counts, s.totals); err != nil {
			return err
		}
		findPlaces(s.keys, s.totals, s.places)
	}
	return nil
}

func (s *sorter) check() error {
	if !s.verify {
		return nil
	}
	want := serialIs(s.size, s.steps)
	for i, got := range s.places {
		if w := want[s.first+i]; got != w {
			return s.differ("place of key", s.first+i, got, w)
		}
	}
	return nil
}

// isKeys are the keys first to end-1: the sum of four random numbers each, as NAS has it.
func isKeys(first, end int) []int {
	keys := make([]int, end-first)
	for i := range keys {
		for part := range 4 {
			keys[i] += int(scramble(uint64(4*(first+i)+part)) % (keyRange / 4))
		}
	}
	return keys
}

// scramble is a hash of x (SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// changeKeys changes some of the keys, whose first is number first of n, for a round.
func changeKeys(keys []int, first, n, round int) {
	change := func(i, key int) {
		if at := i - first; at >= 0 && at < len(keys) {
			keys[at] = key % keyRange
		}
	}
	change(round%n, round)
	change((round+n/2)%n, keyRange-1-round%keyRange)
}

// findPlaces makes totals the number of smaller keys, and places what it is for each key.
func findPlaces(keys []int, totals, places []int64) {
	var sum int64
	for key, n := range totals {
		totals[key] = sum
		sum += n
	}
	for i, key := range keys {
		places[i] = totals[key]
	}
}

func serialIs(n, rounds int) []int64 {
	keys, places := isKeys(0, n), make([]int64, n)
	for round := range rounds {
		changeKeys(keys, 0, n, round)
	}
	totals := make([]int64, keyRange)
	for _, key := range keys {
		totals[key]++
	}
	findPlaces(keys, totals, places)
	return places
}
