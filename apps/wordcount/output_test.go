package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

var sample = &result{
	Files: 1234, Bytes: 4_000_000, Identifiers: 1_000_000, Distinct: 999, Seconds: 2,
	Ranks: []tally{{1000, 3_000_000, 700_000, 1.5e9}, {234, 1_000_000, 300_000, 1.25e9}},
	Top:   []word{{"err", 1600}, {"größe", 825}, {"x", 1}},
}

const sampleText = `1,000,000 identifiers, 999 different, in 1,234 files of 4.0 MB

   1  err         1,600  ████████████████████████████████
   2  größe         825  ████████████████▌
   3  x               1  

rank     files        MB   identifiers   share  counting
   0     1,000       3.0       700,000  75.0 %    1.50 s
   1       234       1.0       300,000  25.0 %    1.25 s

2.00 s: 617 files/s, 0.50 million identifiers/s
`

func TestWriteText(t *testing.T) {
	var b strings.Builder
	if err := writeText(&b, sample); err != nil || b.String() != sampleText {
		t.Errorf("%v\n%s", err, &b)
	}
	agrees, verified := true, *sample
	verified.Verified, verified.SerialSeconds = &agrees, 3
	b.Reset()
	if err := writeText(&b, &verified); err != nil || !strings.HasSuffix(b.String(), "verified: a serial count, in 3.00 s, agrees on all 999 different identifiers\n") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	if err := writeJSON(&b, sample); err != nil {
		t.Fatal(err)
	}
	var got resultJSON
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if strings.Count(b.String(), "\n") != 1 || got.FilesPerSecond != 617 || got.Ranks[1].Share != 0.25 || got.Top[1].Name != "größe" {
		t.Errorf("%s", &b)
	}
	b.Reset()
	if err := writeJSON(&b, &result{}); err != nil || !strings.Contains(b.String(), `"top":[]`) {
		t.Errorf("an empty result: %v, %s", err, &b)
	}
}

type closedWriter struct{}

func (closedWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestWriteErrorsAreReported(t *testing.T) {
	if writeText(closedWriter{}, sample) == nil || writeJSON(closedWriter{}, sample) == nil {
		t.Error("a report that cannot be written is no error")
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
