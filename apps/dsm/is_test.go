package main

import (
	"slices"
	"testing"
)

// A key's place is how many are smaller.
func TestIsPlaces(t *testing.T) {
	const n, rounds = 1000, 4
	keys := isKeys(0, n)
	for round := range rounds {
		changeKeys(keys, 0, n, round)
	}
	sorted := slices.Sorted(slices.Values(keys))
	for i, place := range serialIs(n, rounds) {
		if want, _ := slices.BinarySearch(sorted, keys[i]); int64(want) != place {
			t.Fatalf("key %d, %d, has place %d, want %d", i, keys[i], place, want)
		}
	}
}

func TestIsCheckCanFail(t *testing.T) {
	alone(t, 100, 2, func(j *job) error {
		s := &sorter{job: j, places: serialIs(j.size, j.steps)}
		if err := s.check(); err != nil {
			return err
		}
		s.places[99]++
		return noticed(s.check())
	})
}
