package main

import (
	"cmp"
	"slices"
)

// word is an identifier and how often it occurs.
type word struct {
	Name  string `json:"identifier"`
	Count uint64 `json:"count"`
}

// byCount puts the commonest first, and equally common ones in the order of
// their bytes, so that every run prints the same.
func byCount(a, b word) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
}

// best returns the first n, by byCount, of what found yields. Names are fetched
// only for those that may be among them.
func best(found []entry, n int, name func(ref) (string, error)) ([]entry, []word, error) {
	found = candidates(found, n)
	words := make([]word, len(found))
	refs := make(map[string]entry, len(found))
	for i, e := range found {
		text, err := name(e.Ref)
		if err != nil {
			return nil, nil, err
		}
		words[i], refs[text] = word{text, e.Count}, e
	}
	slices.SortFunc(words, byCount)
	words = words[:min(n, len(words))]
	found = found[:0]
	for _, w := range words {
		found = append(found, refs[w.Name])
	}
	return found, words, nil
}

// candidates drops the entries whose count is lower than the n-th highest.
func candidates(found []entry, n int) []entry {
	if n == 0 {
		return nil
	}
	if len(found) <= n {
		return found
	}
	counts := make([]uint64, len(found))
	for i, e := range found {
		counts[i] = e.Count
	}
	slices.Sort(counts)
	least := counts[len(counts)-n]
	return slices.DeleteFunc(found, func(e entry) bool { return e.Count < least })
}
