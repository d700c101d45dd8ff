package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/golaunch/golaunch/apps/peers/internal/report"
)

func TestTheTryWithTheLeastSpreadCounts(t *testing.T) {
	for _, c := range []struct {
		name       string
		later, far report.Distance
		want       bool
	}{
		{"less", report.Distance{Least: 100, Most: 200}, report.Distance{Least: 100, Most: 400}, true},
		{"less, of a longer one", report.Distance{Least: 400, Most: 500}, report.Distance{Least: 100, Most: 150}, true},
		{"more", report.Distance{Least: 100, Most: 400}, report.Distance{Least: 100, Most: 200}, false},
		{"the same", report.Distance{Least: 200, Most: 400}, report.Distance{Least: 100, Most: 200}, false},
		{"nothing measured", report.Distance{}, report.Distance{}, false},
	} {
		if got := counts(c.later, c.far); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// twoRanks is a case that counting passes.
var twoRanks = benchCase{name: "two", program: collective, ranks: 2, ops: []string{"barrier"}}

// counting returns a launcher whose one result says in its bytes how often it ran.
func counting(t *testing.T) string {
	t.Helper()
	const text = `#!/bin/sh
echo once more >>"$0.log"
echo '{"op":"barrier","us":1,"ranks":2,"bytes":'$(wc -l <"$0.log")'}'
`
	path := filepath.Join(t.TempDir(), "launcher")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// scripted is a measurement with two contenders, on cores whose distances are made
// up.
func scripted(t *testing.T, distances ...float64) (m *measuring, looks *int) {
	looks = new(int)
	return &measuring{
		o: options{batches: 1, tries: 1, turns: 3}, cores: 2, progress: io.Discard,
		all: []contender{{name: "a", launcher: counting(t)}, {name: "b", launcher: counting(t)}},
		distance: func() (float64, error) {
			*looks++
			return distances[*looks-1], nil
		},
	}, looks
}

func TestTake(t *testing.T) {
	for _, c := range []struct {
		name      string
		distances []float64 // three a try: before, between and after the two runs
		try       int64     // that counts
		want      report.Distance
	}{
		{"near all the while", []float64{100, 101, 99}, 1, report.Distance{Least: 99, Most: 101}},
		{"far all the while", []float64{480, 390, 500}, 1, report.Distance{Least: 390, Most: 500}},
		{"moved before the last run", []float64{100, 100, 400, 410, 420, 430}, 2, report.Distance{Least: 410, Most: 430}},
		{"moved and back", []float64{100, 400, 100, 100, 100, 100}, 2, report.Distance{Least: 100, Most: 100}},
		{"never agrees", []float64{100, 400, 100, 100, 200, 100, 100, 300, 100}, 2, report.Distance{Least: 100, Most: 200}},
		{"never agrees, first try", []float64{100, 200, 100, 100, 400, 100, 100, 300, 100}, 1, report.Distance{Least: 100, Most: 200}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, looks := scripted(t, c.distances...)
			m.take(t.Context(), twoRanks, 7)
			if *looks != len(c.distances) || len(m.failures) > 0 {
				t.Errorf("%d looks, want %d; failures %v", *looks, len(c.distances), m.failures)
			}
			record := report.Record{Round: 7, Op: "barrier", Bytes: c.try, US: 1, Ranks: 2, Case: "two", Distance: c.want}
			ofA, ofB := record, record
			ofA.Peer, ofB.Peer = "a", "b"
			if diff := cmp.Diff([]report.Record{ofA, ofB}, m.records); diff != "" {
				t.Error(diff)
			}
			if m.total.wall <= 0 {
				t.Error("the runs took no time")
			}
		})
	}
}

func TestDistanceOnlyMattersWhereRanksHaveCores(t *testing.T) {
	for _, c := range []struct {
		name string
		bc   benchCase
		want bool
	}{
		{"two ranks", twoRanks, true},
		{"one rank", benchCase{ranks: 1}, false},
		{"more than cores", benchCase{ranks: 3}, false},
		{"memory", benchCase{ranks: 2, memory: true}, false},
	} {
		m, looks := scripted(t, 1)
		var got turn
		m.look(c.bc, &got)
		if (*looks == 1) != c.want || got.distance.Measured() != c.want {
			t.Errorf("%s: %d looks, %v", c.name, *looks, got.distance)
		}
	}
	m, _ := scripted(t)
	m.distance = nil // as on one core
	m.take(t.Context(), twoRanks, 1)
	if len(m.records) != 2 || m.records[0].Distance.Measured() {
		t.Errorf("on one core: %+v", m.records)
	}
}

// TestFailuresAreNotTriedAgain and are told once each.
func TestFailuresAreNotTriedAgain(t *testing.T) {
	m, looks := scripted(t, 100, 400, 100)
	m.all[1].launcher = "false"
	m.take(t.Context(), twoRanks, 1)
	if len(m.failures) != 1 || *looks != 3 || !strings.Contains(m.failures[0].Error(), "round 1, two, b: ") {
		t.Errorf("%d looks, failures %v", *looks, m.failures)
	}
	m, _ = scripted(t)
	m.distance = func() (float64, error) { return 0, errors.New("no such core") }
	m.take(t.Context(), twoRanks, 1)
	if len(m.failures) != 3 || !strings.Contains(m.failures[0].Error(), "no such core") {
		t.Errorf("failures %v", m.failures)
	}
}
