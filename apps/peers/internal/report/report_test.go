package report

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (write it anew with -update):\n%s", path, diff)
	}
}

// demoRun is a run of three rounds whose figures are made up.
func demoRun(t *testing.T) Run {
	t.Helper()
	text, err := os.ReadFile("testdata/run.json")
	if err != nil {
		t.Fatal(err)
	}
	run, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestMeasured(t *testing.T) { golden(t, "measured.md", Measured(demoRun(t))) }

func TestChart(t *testing.T) { golden(t, "chart.svg", Chart(demoRun(t))) }

func TestMeasuredWithoutPeers(t *testing.T) {
	run := demoRun(t)
	ours := run.Records[:0:0]
	for _, r := range run.Records {
		if r.Peer == Golaunch {
			ours = append(ours, r)
		}
	}
	run.Records = ours
	golden(t, "measured-alone.md", Measured(run))
}

func TestTrialSaysThatItIsOne(t *testing.T) {
	run := demoRun(t)
	if strings.Contains(Measured(run), "mean nothing") {
		t.Error("a measurement is called a trial")
	}
	run.Setup.Divide = 1000
	if !strings.Contains(Measured(run), "mean nothing") {
		t.Error("a trial is not called one")
	}
}

func TestDisturbedRunSaysSo(t *testing.T) {
	run := demoRun(t)
	if strings.Contains(Measured(run), "measure again") {
		t.Error("a quiet run is called disturbed")
	}
	run.Setup.Others = 0.2
	if !strings.Contains(Measured(run), "took 20 % of the cores meanwhile: **more than 10 %, measure again") {
		t.Error("a disturbed run is not called one")
	}
}

func TestEveryRowHasAFigureOfEverybody(t *testing.T) {
	filled := Compare(Rows(), demoRun(t).Records)
	if len(filled) != len(Rows()) {
		t.Errorf("%d of %d rows", len(filled), len(Rows()))
	}
	for _, c := range filled {
		if math.IsNaN(c.Ours) || math.IsNaN(c.OpenMPI) || math.IsNaN(c.MPICH) {
			t.Errorf("%s: %v, %v, %v", c.Label, c.Ours, c.OpenMPI, c.MPICH)
		}
	}
}

func TestCompareTakesMedians(t *testing.T) {
	row := Row{Op: "put", Bytes: 8, Ranks: 2, Buffers: Heap, AtMost: 0.5}
	record := func(peer string, bytes int64, us float64, buffers string) Record {
		return Record{Peer: peer, Op: "put", Bytes: bytes, US: us, Ranks: 2, Buffers: buffers}
	}
	got := Compare([]Row{row}, []Record{
		record(Golaunch, 8, 1, Heap), record(Golaunch, 8, 100, Heap), record(Golaunch, 8, 3, Heap),
		record(Golaunch, 8, 0.1, Arena), record(Golaunch, 1024, 0.1, Heap),
		record(MPICH, 8, 10, Heap), record(MPICH, 8, 8, Heap),
	})
	if len(got) != 1 || got[0].Ours != 3 || got[0].MPICH != 9 || !math.IsNaN(got[0].OpenMPI) {
		t.Fatalf("%+v", got)
	}
	if ratio := got[0].Ratio(); math.Abs(ratio-1.0/3) > 1e-9 || got[0].Verdict() != Reached {
		t.Errorf("ratio %v, verdict %v", ratio, got[0].Verdict())
	}
}

func TestVerdict(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		row  Comparison
		want Verdict
	}{
		{"nothing required", Comparison{Ours: 2, OpenMPI: 1, MPICH: 1}, NotRequired},
		{"at the limit", Comparison{Row: Row{AtMost: 0.5}, Ours: 1, OpenMPI: 2, MPICH: 3}, Reached},
		{"best peer counts", Comparison{Row: Row{AtMost: 0.5}, Ours: 1, OpenMPI: 3, MPICH: 1.9}, Missed},
		{"no peer", Comparison{Row: Row{AtMost: 0.5}, Ours: 1, OpenMPI: nan, MPICH: nan}, Unknown},
		{"one peer", Comparison{Row: Row{AtMost: 0.5}, Ours: 1, OpenMPI: nan, MPICH: 4}, Reached},
		{"under the limit", Comparison{Row: Row{Limit: 64}, Ours: 63, OpenMPI: nan, MPICH: nan}, Reached},
		{"not under the limit", Comparison{Row: Row{Limit: 64}, Ours: 64, OpenMPI: 1, MPICH: 1}, Missed},
	} {
		if got := c.row.Verdict(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	const output = "A launcher's warning {with a brace\r\n" +
		`{"peer":"mpich","op":"put","bytes":8,"us":1.24,"ranks":2,"transport":"shm","buffers":"heap"}` + "\r\n" +
		"\n" +
		`{"op":"get","bytes":8,"us":0.05,"ranks":2,"transport":"shm","buffers":"heap","later":[1]}` + "\n" +
		`{"op":"put","bytes":8,"us":0,"ranks":2}` + "\n" +
		`{"op":"put","bytes":-8,"us":1,"ranks":2}` + "\n" +
		`{"op":"put","bytes":8,"us":1,"ranks":0}` + "\n" +
		`{"op":"put","bytes":8,"us":1,"ra`
	records, others := Parse([]byte(output))
	want := []Record{
		{Peer: "mpich", Op: "put", Bytes: 8, US: 1.24, Ranks: 2, Transport: "shm", Buffers: "heap"},
		{Op: "get", Bytes: 8, US: 0.05, Ranks: 2, Transport: "shm", Buffers: "heap"},
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Error(diff)
	}
	if len(others) != 5 || !strings.HasPrefix(others[0], "A launcher's warning") {
		t.Errorf("other lines: %q", others)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"op":"put","bytes":8,"us":1,"ranks":2}`))
	f.Add([]byte("mpirun: warning\n{\"op\":\"private_memory\",\"bytes\":1,\"ranks\":32}\n"))
	f.Add([]byte(`{"op":"put","us":1e999}`))
	f.Fuzz(func(t *testing.T, output []byte) {
		records, others := Parse(output)
		for _, r := range records {
			if err := r.check(); err != nil {
				t.Errorf("accepted %+v: %v", r, err)
			}
		}
		if lines := bytes.Count(output, []byte("\n")) + 1; len(records)+len(others) > lines {
			t.Errorf("%d records and %d others of %d lines", len(records), len(others), lines)
		}
	})
}

func TestWriteAndRead(t *testing.T) {
	run := demoRun(t)
	var out bytes.Buffer
	if err := run.Write(&out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "distance") {
		t.Error("a run without distances has some in its file")
	}
	out.Reset()
	run.Records[0].Case, run.Records[0].Distance = "rma-small", Distance{Least: 100.5, Most: 120}
	if err := run.Write(&out); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadRefuses(t *testing.T) {
	const setup = `{"setup":{"cores":2}}` + "\n"
	for text, want := range map[string]string{
		"":                                       "no setup",
		`{"op":"put"}`:                           "no setup",
		"plain":                                  "no setup",
		setup + "plain":                          "line 2",
		setup + `{"op":"put"}`:                   "line 2: put: 0 ranks",
		setup + `{"ranks":2}`:                    "line 2: no operation",
		setup + "{}\n" + setup:                   "line 2",
		setup + `{"op":"put","ranks":2,"us":-1}`: "microseconds",
		setup + `{"op":"put","ranks":2,"us":1,"distance_ns":{"least":2,"most":1}}`:  "line 2: put: a distance of 2 to 1 ns",
		setup + `{"op":"put","ranks":2,"us":1,"distance_ns":{"least":-2,"most":1}}`: "a distance of -2 to 1 ns",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestPage(t *testing.T) {
	page := "# Title\n\n" + pageBegin + "\nold\n" + pageEnd + "\n\nProse.\n"
	got, err := Page(page, "\nnew\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "# Title\n\n" + pageBegin + "\n\nnew\n\n" + pageEnd + "\n\nProse.\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := Page(got, "new")
	if err != nil || again != got {
		t.Errorf("a second time: %q, %v", again, err)
	}
	for _, broken := range []string{"", pageBegin, pageEnd + pageBegin} {
		if _, err := Page(broken, "new"); err == nil {
			t.Errorf("%q was accepted", broken)
		}
	}
}

func TestRatioText(t *testing.T) {
	for v, want := range map[float64]string{0.0834: "0.083", 0.9994: "0.999", 1.049: "1.05", 12.3: "12.30"} {
		if got := RatioText(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
