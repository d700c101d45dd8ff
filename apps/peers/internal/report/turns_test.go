package report

import (
	"strings"
	"testing"
)

func TestDistanceWidens(t *testing.T) {
	var d Distance
	if d.Measured() || d.Spread() != 1 || !d.Agrees() {
		t.Errorf("nothing measured: %v, spread %v", d, d.Spread())
	}
	d = d.With(200)
	if want := (Distance{200, 200}); d != want || d.Spread() != 1 {
		t.Errorf("%v, want %v", d, want)
	}
	d = d.With(100).With(150)
	if want := (Distance{100, 200}); d != want || d.Spread() != 2 {
		t.Errorf("%v, want %v", d, want)
	}
}

func TestAgrees(t *testing.T) {
	for d, want := range map[Distance]bool{
		{100, 100}: true, {100, 150}: true, {100, 151}: false, {400, 500}: true, {130, 500}: false,
	} {
		if d.Agrees() != want {
			t.Errorf("%v agrees: %v", d, d.Agrees())
		}
	}
}

// placed is a contender's record with a distance.
func placed(round int, name string, least, most float64) Record {
	return Record{Peer: Golaunch, Round: round, Op: "put", US: 1, Ranks: 2, Case: name, Distance: Distance{least, most}}
}

func TestDistances(t *testing.T) {
	apart := Record{Peer: Golaunch, Round: 1, Op: "put", US: 1, Ranks: 8, Case: "crowd"}
	for _, c := range []struct {
		name    string
		records []Record
		want    string
	}{
		{"an old file", []Record{apart}, ""},
		{"always alike", []Record{placed(1, "a", 130, 140), placed(1, "a", 130, 140), apart, placed(1, "b", 400, 560), placed(2, "a", 128, 130)},
			"A cache line's round trip between two cores took 128 to 560 ns; in 3 of 3 turns of a case in a round all contenders had it the same within a factor of 1.5.\n"},
		{"not always", []Record{placed(1, "a", 100, 100), placed(1, "b", 110, 400), placed(2, "b", 120, 300)},
			"A cache line's round trip between two cores took 100 to 400 ns; in 1 of 3 turns of a case in a round all contenders had it the same within a factor of 1.5. " +
				"**Not so, in any try:** b in round 1 (110 to 400 ns); b in round 2 (120 to 300 ns).\n"},
	} {
		if got := distances(c.records); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMeasuredTellsTheDistances(t *testing.T) {
	run := demoRun(t)
	if strings.Contains(Measured(run), "cache line") {
		t.Error("a run that measured no distances tells of some")
	}
	run.Records[0].Case, run.Records[0].Distance = "rma-small", Distance{100, 120}
	if !strings.Contains(Measured(run), "meanwhile.\nA cache line's round trip between two cores took 100 to 120 ns; in 1 of 1 turn ") {
		t.Error("a run that measured distances does not tell of them")
	}
}
