package memlimit

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"
)

const (
	mountsV2 = "41 31 0:38 / /cg rw - cgroup2 cgroup2 rw\n"
	mountsV1 = "35 31 0:32 / /cgm rw - cgroup cgroup rw,memory\n"
	mib      = 1 << 20
)

// tree reads the given texts on top of a host with 1 GiB.
func tree(files map[string]string) reader {
	return func(path string) ([]byte, error) {
		if text, ok := files[strings.TrimPrefix(path, "/")]; ok {
			return []byte(text), nil
		}
		if path == "/proc/meminfo" {
			return []byte("MemAvailable: 1048576 kB\n"), nil
		}
		return nil, fs.ErrNotExist
	}
}

func TestAvailable(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no cgroups", nil, "1.0 GiB are available (MemAvailable)"},
		{"cgroups not mounted", map[string]string{"proc/self/cgroup": "0::/a\n"},
			"1.0 GiB are available (MemAvailable)"},
		{"v2, own limit", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": mountsV2,
			"cg/a/b/memory.max": "536870912\n", "cg/a/b/memory.current": "327155712\n",
		}, "200.0 MiB are available (cgroup /a/b: memory.max 512.0 MiB)"},
		{"v2, an ancestor's limit; ours is larger", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": mountsV2,
			"cg/a/b/memory.max": "536870912\n", "cg/a/b/memory.current": "1048576\n",
			"cg/a/memory.max": "104857600\n", "cg/a/memory.current": "99614720\n",
		}, "5.0 MiB are available (cgroup /a: memory.max 100.0 MiB)"},
		{"v2, throttled before it is killed", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2,
			"cg/a/memory.max": "536870912\n", "cg/a/memory.high": "268435456\n", "cg/a/memory.current": "1048576\n",
		}, "255.0 MiB are available (cgroup /a: memory.high 256.0 MiB)"},
		{"v2, file cache is given up", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2,
			"cg/a/memory.max": "104857600\n", "cg/a/memory.current": "104857600\n",
			"cg/a/memory.stat": "active_file 5\ninactive_file 10485760\n",
		}, "10.0 MiB are available (cgroup /a: memory.max 100.0 MiB)"},
		{"v2, over its limit", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2,
			"cg/a/memory.max": "1048576\n", "cg/a/memory.current": "104857600\n",
		}, "0 B are available (cgroup /a: memory.max 1.0 MiB)"},
		{"v2, more cache than usage", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2,
			"cg/a/memory.max": "1048576\n", "cg/a/memory.current": "4096\n", "cg/a/memory.stat": "inactive_file 8192\n",
		}, "1.0 MiB are available (cgroup /a: memory.max 1.0 MiB)"},
		{"v2, no limit anywhere", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2, "cg/a/memory.max": "max\n", "cg/a/memory.current": "1\n",
		}, "1.0 GiB are available (MemAvailable)"},
		{"v1", map[string]string{
			"proc/self/cgroup": "4:memory:/a\n0::/\n", "proc/self/mountinfo": mountsV1 + mountsV2,
			"cgm/a/memory.limit_in_bytes": "104857600\n", "cgm/a/memory.usage_in_bytes": "73400320\n",
			"cgm/a/memory.stat":         "inactive_file 1\ntotal_inactive_file 10485760\n",
			"cgm/memory.limit_in_bytes": "9223372036854771712\n", "cgm/memory.usage_in_bytes": "73400320\n",
		}, "40.0 MiB are available (cgroup /a: memory.limit_in_bytes 100.0 MiB)"},
	} {
		l, err := available(tree(c.files))
		if err != nil || l.String() != c.want {
			t.Errorf("%s: %q, %v\nwant %q", c.name, l, err, c.want)
		}
	}
}

func TestAvailableNamesWhatItCannotRead(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"proc/meminfo": "x"}, "/proc/meminfo: no MemAvailable"},
		{map[string]string{"proc/self/cgroup": "x"}, `/proc/self/cgroup: "x" is not`},
		{map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": "x"}, "/proc/self/mountinfo"},
		{map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2, "cg/a/memory.max": "x"},
			"cgroup /a: memory.max"},
		{map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": mountsV2, "cg/a/memory.max": "1",
			"cg/a/memory.stat": "inactive_file x"}, "cgroup /a: memory.stat"},
	} {
		if _, err := available(tree(c.files)); err == nil || !says(err, c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	nothing := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	if _, err := available(nothing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without /proc: %v", err)
	}
}

// This machine, whatever it is, has memory, and none has an exbibyte of it.
func TestAvailableHere(t *testing.T) {
	l, err := Available()
	if err != nil {
		t.Fatal(err)
	}
	if l.Available <= 0 || l.Available > 1<<60 || l.Source == "" {
		t.Fatalf("%+v", l)
	}
	t.Log(l)
	if err := l.Admit(math.MaxInt64); err == nil {
		t.Fatal("admitted more than an address space")
	}
}

func TestAdmit(t *testing.T) {
	l := Limit{Available: 22<<30 + 922<<20, Source: "MemAvailable"}
	for _, n := range []int64{0, 1, l.Available} {
		if err := l.Admit(n); err != nil {
			t.Errorf("Admit(%d): %v", n, err)
		}
	}
	err := l.Admit(1 << 40)
	if want := "1.0 TiB: 22.9 GiB are available (MemAvailable)"; !says(err, want) || err == nil {
		t.Errorf("%v, want %q", err, want)
	}
	var exceeded *ExceededError
	if !errors.As(err, &exceeded) || exceeded.Asked != 1<<40 || exceeded.Limit != l {
		t.Errorf("%#v", err)
	}
	if err := l.Admit(l.Available + 1); err == nil {
		t.Error("admitted one byte too many")
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", mib: "1.0 MiB", mib - 1: "1.0 MiB",
		1<<30 - 1: "1.0 GiB", 1 << 40: "1.0 TiB", math.MaxInt64: "8.0 EiB", -5: "-5 B",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func BenchmarkAvailable(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Available(); err != nil {
			b.Fatal(err)
		}
	}
}
