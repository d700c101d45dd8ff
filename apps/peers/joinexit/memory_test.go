package main

import "testing"

const rollup = `55d0c0a00000-7ffd3a9f8000 ---p 00000000 00:00 0                          [rollup]
Rss:                2044 kB
Pss:                 271 kB
Shared_Clean:       1788 kB
Shared_Dirty:          0 kB
Private_Clean:        12 kB
Private_Dirty:       244 kB
Private_Hugetlb:    2048 kB
Referenced:         2044 kB
`

func TestParsePrivate(t *testing.T) {
	got, err := parsePrivate(rollup)
	if err != nil || got != 256<<10 {
		t.Errorf("%d, %v, want %d", got, err, 256<<10)
	}
}

func TestParsePrivateRefuses(t *testing.T) {
	for _, text := range []string{"", "Rss: 12 kB\n", "Private_Dirty: many kB\n", "Private_Clean:\n"} {
		if got, err := parsePrivate(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestPrivateMemoryOfThisProcess(t *testing.T) {
	got, err := privateMemory()
	if err != nil {
		t.Fatal(err)
	}
	if got < 64<<10 || got > 1<<32 {
		t.Errorf("%d bytes are not what a test has", got)
	}
}
