package proc

import (
	"os"
	"strconv"
	"testing"
)

func TestParseParent(t *testing.T) {
	for _, tt := range []struct {
		stat string
		want int
		ok   bool
	}{
		{"12 (sh) S 7 12 12 0", 7, true},
		{"12 (a ) S 3 (b) R 8 1", 8, true},
		{"12 () Z 1", 1, true},
		{"12 (sh) S", 0, false},
		{"12 (sh) S x", 0, false},
		{"", 0, false},
	} {
		if got, ok := parseParent([]byte(tt.stat)); got != tt.want || ok != tt.ok {
			t.Errorf("parseParent(%q) = %d, %v, want %d, %v", tt.stat, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParentOf(t *testing.T) {
	if got, ok := parentOf(strconv.Itoa(os.Getpid()), make([]byte, 512)); !ok || got != os.Getppid() {
		t.Errorf("parentOf(self) = %d, %v, want %d", got, ok, os.Getppid())
	}
	if _, ok := parentOf("0", make([]byte, 512)); ok {
		t.Error("process 0 has a parent")
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add([]byte("12 (sh) S 7 12"))
	f.Fuzz(func(t *testing.T, b []byte) { parseParent(b) })
}

func BenchmarkScan(b *testing.B) {
	c := &Children{bystanders: map[int]bool{}}
	for b.Loop() {
		c.scan(c.isBystander, func(int) {})
	}
	b.ReportMetric(float64(len(processes())), "entries")
}
