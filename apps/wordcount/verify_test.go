package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	serial := map[string]uint64{"a": 1, "b": 2, "c": 3, "d": 4}
	got := differences(serial, []word{{"a", 1}, {"b", 1}, {"b", 1}, {"d", 5}, {"e", 6}})
	want := []string{
		`"b": twice in the table, with 1 and 1`,
		`"c": 0 in the table, 3 counted serially`,
		`"d": 5 in the table, 4 counted serially`,
		`"e": 6 in the table, 0 counted serially`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// verified fills a table from src and verifies it against files, after damage.
func verified(t *testing.T, src string, files []source, damage func(*table)) error {
	t.Helper()
	c := newCounter()
	if err := c.source([]byte(src)); err != nil {
		t.Fatal(err)
	}
	counts := []map[string]uint64{c.counts}
	tables := newTables(counts, hashOf)
	if err := fill(tables, counts); err != nil {
		t.Fatal(err)
	}
	if damage != nil {
		damage(tables[0])
	}
	return verify(tables[0], files)
}

func TestVerify(t *testing.T) {
	var src strings.Builder
	for i := range 30 {
		fmt.Fprintf(&src, "x%d ", i)
	}
	root := writeTree(t, map[string]string{"a.go": src.String()})
	files := []source{{path: root + "/a.go"}}
	if err := verified(t, src.String(), files, nil); err != nil {
		t.Error(err)
	}
	oneMore := func(table *table) {
		for slot := 0; slot < table.heap(0); slot += slotWords {
			if table.local[slot] != 0 {
				table.local[slot+countWord]++
			}
		}
	}
	for _, tt := range []struct {
		name, src string
		files     []source
		damage    func(*table)
		want      []string
	}{
		{"miscounted", src.String(), files, oneMore, []string{`"x0": 2 in the table, 1 counted serially`, "and 10 more"}},
		{"a byte is wrong", src.String(), files, func(t *table) { t.local[t.heap(0)] ^= 1 }, []string{"counted serially"}},
		{"another source", "y", files, nil, []string{`"x0": 0 in the table, 1 counted serially`, "and 11 more"}},
		{"file gone", "y", []source{{path: root + "/gone.go"}}, nil, []string{"rank 0: verify:", "gone.go"}},
	} {
		err := verified(t, tt.src, tt.files, tt.damage)
		if err == nil {
			t.Errorf("%s: not noticed", tt.name)
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", tt.name, err, want)
			}
		}
	}
}
