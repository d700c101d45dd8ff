package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// regions is the memory of several ranks in one slice each. Words are accessed
// atomically, those of Get too, so that the race detector sees every access.
type regions [][]uint64

func (m regions) Get(target, disp int, dst []uint64) error {
	for i := range dst {
		dst[i] = atomic.LoadUint64(&m[target][disp+i])
	}
	return nil
}

func (m regions) Flush(int) error { return nil }

func (m regions) FetchAdd(target, disp int, v uint64) (uint64, error) {
	return atomic.AddUint64(&m[target][disp], v) - v, nil
}

func (m regions) CompareAndSwap(target, disp int, old, new uint64) (uint64, error) {
	for {
		found := atomic.LoadUint64(&m[target][disp])
		if found != old || atomic.CompareAndSwapUint64(&m[target][disp], old, new) {
			return found, nil
		}
	}
}

// newTables lays out a table for these counts, one map a rank.
func newTables(counts []map[string]uint64, hash func(string) uint64) []*table {
	ranks := len(counts)
	need := make([]uint64, ranks)
	for _, c := range counts {
		for name := range c {
			need[hash(name)%uint64(ranks)]++
		}
	}
	return tablesOn(layoutFor(need), counts, hash)
}

func tablesOn(l layout, counts []map[string]uint64, hash func(string) uint64) []*table {
	mem := make(regions, len(counts))
	for rank := range mem {
		mem[rank] = make([]uint64, l.heap(rank)+heapWords(counts[rank]))
	}
	tables := make([]*table, len(counts))
	for rank := range tables {
		tables[rank] = newTable(l, mem, rank, mem[rank])
		tables[rank].hash = hash
	}
	return tables
}

// fill does what the ranks do: all keep, and when all have kept, all add.
func fill(tables []*table, counts []map[string]uint64) error {
	mine := make([][]kept, len(tables))
	for rank, t := range tables {
		mine[rank] = t.keepAll(counts[rank])
	}
	errs := make([]error, len(tables))
	var ranks sync.WaitGroup
	for rank, t := range tables {
		ranks.Go(func() { errs[rank] = t.addAll(mine[rank]) })
	}
	ranks.Wait()
	return errors.Join(errs...)
}

// overlapping returns counts in which each identifier is met by several ranks.
func overlapping(ranks, names int) (each []map[string]uint64, sum map[string]uint64) {
	sum = map[string]uint64{}
	for rank := range ranks {
		c := map[string]uint64{}
		for i := range names {
			if (i+rank)%3 == 0 {
				continue // not every rank meets every one
			}
			name := fmt.Sprintf("%s%d", strings.Repeat("nämé", i%7), i)
			c[name] = uint64(rank + i + 1)
			sum[name] += c[name]
		}
		each = append(each, c)
	}
	return each, sum
}

func TestTableAddsUp(t *testing.T) {
	hashes := map[string]func(string) uint64{
		"fnv":     hashOf,
		"all one": func(string) uint64 { return 1<<63 + 5 }, // every identifier collides
		"length":  func(s string) uint64 { return uint64(len(s)) },
		"largest": func(string) uint64 { return ^uint64(0) },
	}
	for name, hash := range hashes {
		for ranks := 1; ranks <= 4; ranks++ {
			counts, sum := overlapping(ranks, 300)
			tables := newTables(counts, hash)
			if err := fill(tables, counts); err != nil {
				t.Fatal(err)
			}
			words, err := tables[ranks-1].all()
			if err != nil {
				t.Fatal(err)
			}
			if diff := differences(sum, words); len(diff) > 0 {
				t.Errorf("%s, %d ranks: %d differences, first %s", name, ranks, len(diff), diff[0])
			}
		}
	}
}

// TestTableRaces has ranks race for the same few slots again and again.
func TestTableRaces(t *testing.T) {
	same := map[string]uint64{"a": 1, "b": 2, "c": 3}
	counts := []map[string]uint64{same, same, same, same}
	for range 500 {
		tables := newTables(counts, func(string) uint64 { return 0 })
		if err := fill(tables, counts); err != nil {
			t.Fatal(err)
		}
		words, err := tables[0].all()
		if err != nil {
			t.Fatal(err)
		}
		if diff := differences(map[string]uint64{"a": 4, "b": 8, "c": 12}, words); len(diff) > 0 {
			t.Fatal(diff)
		}
	}
}

func TestFullTableIsAnError(t *testing.T) {
	counts := []map[string]uint64{{"a": 1}, {"b": 1, "c": 1}}
	zero := func(string) uint64 { return 0 }
	err := fill(tablesOn(layout{[]uint64{2, 5}}, counts, zero), counts)
	if err == nil || !strings.Contains(err.Error(), "all 2 slots of rank 0 are taken") {
		t.Errorf("%v; want an error that tells of the full region", err)
	}
}

// failing is a memory in which one operation fails.
type failing struct {
	memory
	op string
}

var errLost = errors.New("rank 1 is lost")

func (f failing) err(op string) error {
	if f.op == op {
		return errLost
	}
	return nil
}

func (f failing) Get(target, disp int, dst []uint64) error {
	return errors.Join(f.memory.Get(target, disp, dst), f.err("get"))
}
func (f failing) Flush(target int) error { return f.err("flush") }
func (f failing) FetchAdd(target, disp int, v uint64) (uint64, error) {
	old, err := f.memory.FetchAdd(target, disp, v)
	return old, errors.Join(err, f.err("add"))
}
func (f failing) CompareAndSwap(target, disp int, old, new uint64) (uint64, error) {
	found, err := f.memory.CompareAndSwap(target, disp, old, new)
	return found, errors.Join(err, f.err("cas"))
}

func TestTableReportsFailedOperations(t *testing.T) {
	for _, op := range []string{"get", "flush", "add", "cas"} {
		counts, _ := overlapping(2, 20)
		tables := newTables(counts, func(string) uint64 { return 1 })
		for _, table := range tables {
			table.mem = failing{table.mem, op}
		}
		if err := fill(tables, counts); !errors.Is(err, errLost) {
			t.Errorf("%s fails: %v", op, err)
		}
	}
}

func TestEntriesSkipsFreeSlots(t *testing.T) {
	var got []entry
	for e := range entries([]uint64{0, 0, 5, 7, 0, 0, 6, 1}) {
		got = append(got, e)
	}
	if diff := cmp.Diff([]entry{{5, 7}, {6, 1}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func BenchmarkTableAdd(b *testing.B) {
	counts, _ := overlapping(1, 20_000)
	tables := newTables(counts, hashOf)
	mine := tables[0].keepAll(counts[0])
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := mine[i%len(mine)]
		if err := tables[0].add(k.name, k.ref, 1); err != nil {
			b.Fatal(err)
		}
	}
}
