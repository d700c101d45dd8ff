package main

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is how many differences are told in full.
const maxListed = 20

// verify counts all files again, serially and without the table, and compares
// every identifier. Its error lists what differs. It may be called between the
// last change of the table and the end of its window.
func verify(t *table, files []source) error {
	serial := newCounter()
	for _, f := range files {
		if err := serial.file(f.path); err != nil {
			return fmt.Errorf("rank %d: verify: %w", t.me, err)
		}
	}
	shared, err := t.all()
	if err != nil {
		return fmt.Errorf("rank %d: verify: %w", t.me, err)
	}
	diff := differences(serial.counts, shared)
	if len(diff) == 0 {
		return nil
	}
	more := ""
	if n := len(diff) - maxListed; n > 0 {
		diff, more = diff[:maxListed], fmt.Sprintf("\n  and %d more", n)
	}
	return fmt.Errorf("rank %d: verify: the table differs from the serial count:\n  %s%s",
		t.me, strings.Join(diff, "\n  "), more)
}

// all returns everything in the table.
func (t *table) all() ([]word, error) {
	var words []word
	for rank := range t.slots {
		slots := make([]uint64, t.heap(rank))
		if err := t.mem.Get(rank, 0, slots); err != nil {
			return nil, err
		}
		if err := t.mem.Flush(rank); err != nil {
			return nil, err
		}
		for e := range entries(slots) {
			name, err := t.name(e.Ref)
			if err != nil {
				return nil, err
			}
			words = append(words, word{name, e.Count})
		}
	}
	return words, nil
}

// differences compares the table with the serial count, both ways, and finds
// identifiers that the table holds twice. It is sorted by identifier.
func differences(serial map[string]uint64, shared []word) []string {
	var diff []string
	seen := make(map[string]uint64, len(shared))
	for _, w := range shared {
		if n, twice := seen[w.Name]; twice {
			diff = append(diff, fmt.Sprintf("%q: twice in the table, with %d and %d", w.Name, n, w.Count))
		}
		seen[w.Name] += w.Count
	}
	for name, n := range serial {
		if seen[name] != n {
			diff = append(diff, fmt.Sprintf("%q: %d in the table, %d counted serially", name, seen[name], n))
		}
	}
	for name, n := range seen {
		if _, ok := serial[name]; !ok {
			diff = append(diff, fmt.Sprintf("%q: %d in the table, 0 counted serially", name, n))
		}
	}
	slices.Sort(diff)
	return diff
}
