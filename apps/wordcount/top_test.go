package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBest(t *testing.T) {
	names := map[ref]string{1: "d", 2: "a", 3: "c", 4: "b", 5: "e"}
	all := []entry{{1, 7}, {2, 7}, {3, 7}, {4, 9}, {5, 1}}
	ranking := []word{{"b", 9}, {"a", 7}, {"c", 7}, {"d", 7}, {"e", 1}}
	refs := []entry{{4, 9}, {2, 7}, {3, 7}, {1, 7}, {5, 1}}
	for n := 0; n <= 7; n++ {
		fetched := 0
		found, words, err := best(append([]entry(nil), all...), n, func(r ref) (string, error) {
			fetched++
			return names[r], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		k := min(n, len(all))
		if diff := cmp.Diff(ranking[:k], words); diff != "" {
			t.Errorf("best %d: (-want +got)\n%s", n, diff)
		}
		if diff := cmp.Diff(refs[:k], append([]entry{}, found...)); diff != "" {
			t.Errorf("best %d: (-want +got)\n%s", n, diff)
		}
		if n == 1 && fetched != 1 {
			t.Errorf("fetched %d names to find the first", fetched)
		}
	}
}

func TestBestReportsFailures(t *testing.T) {
	_, _, err := best([]entry{{1, 1}}, 1, func(ref) (string, error) { return "", fmt.Errorf("lost") })
	if err == nil {
		t.Error("a name that cannot be fetched is no error")
	}
}
