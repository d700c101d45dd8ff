package memlimit

import (
	"slices"
	"strings"
	"testing"
)

// Whatever /proc and the cgroup files say: no panic, no negative amount, and
// no path that climbs out of a mount.
func FuzzAvailable(f *testing.F) {
	f.Add("MemAvailable: 1 kB\n", "0::/a/b\n", mountsV2, "4096\n", "0\n", "inactive_file 1\n")
	f.Add("MemAvailable: 1 kB\n", "4:memory:/../x\n", mountsV1, "max\n", "9223372036854771712\n", "total_inactive_file 1\n")
	f.Add("MemAvailable: 18014398509481983 kB\n", "0::/\n", `1 2 3 /\040 /\057\134 rw - cgroup2 x`, "1", "2", "")
	f.Fuzz(func(t *testing.T, meminfo, self, mounts, bound, usage, stat string) {
		root := tree(map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": self, "proc/self/mountinfo": mounts,
			"cg/a/memory.max": bound, "cg/a/memory.current": usage, "cg/a/memory.stat": stat,
			"cgm/memory.limit_in_bytes": bound, "cgm/memory.usage_in_bytes": usage, "cgm/memory.stat": stat,
		})
		l, err := available(root)
		if err == nil && (l.Available < 0 || l.Source == "") {
			t.Fatalf("%+v", l)
		}
		groups, err := findGroups(root)
		if err != nil {
			return
		}
		for _, g := range groups {
			if slices.Contains(strings.Split(g.dir, "/"), "..") {
				t.Fatalf("%q climbs", g.dir)
			}
		}
	})
}

// What unescape leaves behind has no more escapes than it was given.
func FuzzUnescape(f *testing.F) {
	f.Add(`/a\040b`)
	f.Fuzz(func(t *testing.T, s string) {
		got := unescape(s)
		if !strings.Contains(s, `\`) && got != s {
			t.Fatalf("unescape(%q) = %q", s, got)
		}
		if len(got) > len(s) {
			t.Fatalf("unescape(%q) grew to %q", s, got)
		}
	})
}
