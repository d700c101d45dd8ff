package memlimit

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMeminfo(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		err  string
	}{
		{"MemTotal: 10 kB\nMemAvailable:   24119472 kB\n", 24119472 << 10, ""},
		{"MemAvailable: 0 kB", 0, ""},
		{"MemTotal: 10 kB\n", 0, "no MemAvailable"},
		{"", 0, "no MemAvailable"},
		{"MemAvailable: 12 MB\n", 0, "not a number of kB"},
		{"MemAvailable:\n", 0, "not a number of kB"},
		{"MemAvailable: -1 kB\n", 0, "invalid syntax"},
		{"MemAvailable: 18014398509481984 kB\n", 0, "exceed"},
	} {
		got, err := parseMeminfo(c.text)
		if got != c.want || !says(err, c.err) {
			t.Errorf("parseMeminfo(%q) = %d, %v, want %d, %q", c.text, got, err, c.want, c.err)
		}
	}
}

func TestParseAmount(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    int64
		limited bool
		err     string
	}{
		{"max\n", 0, false, ""},
		{"536870912\n", 536870912, true, ""},
		{"0\n", 0, true, ""},
		{"9223372036854771712\n", 9223372036854771712, false, ""}, // version 1's "no limit"
		{"18446744073709551615\n", math.MaxInt64, false, ""},
		{"-1\n", 0, false, "invalid syntax"},
		{"12 kB\n", 0, false, "invalid syntax"},
	} {
		got, limited, err := parseAmount(c.text)
		if got != c.want || limited != c.limited || !says(err, c.err) {
			t.Errorf("parseAmount(%q) = %d, %v, %v, want %d, %v, %q", c.text, got, limited, err, c.want, c.limited, c.err)
		}
	}
}

func TestParseStat(t *testing.T) {
	text := "cache 6266880\ninactive_file 4165632\ntotal_inactive_file 99\n"
	for _, c := range []struct {
		entry string
		want  int64
	}{{"inactive_file", 4165632}, {"total_inactive_file", 99}, {"shmem", 0}} {
		if got, err := parseStat(text, c.entry); got != c.want || err != nil {
			t.Errorf("parseStat(%q) = %d, %v, want %d", c.entry, got, err, c.want)
		}
	}
	if _, err := parseStat("inactive_file lots\n", "inactive_file"); err == nil {
		t.Error("parseStat took a word for a number")
	}
}

func TestParseMemberships(t *testing.T) {
	text := "9:name=systemd:/\n4:memory:/a/b\n3:cpu,memory:/c\n2:cpuset:/x\n0::/d:e\n"
	got, err := parseMemberships(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []membership{{"/a/b", false}, {"/c", false}, {"/d:e", true}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(membership{})); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"4:memory\n", "nonsense\n", "0::relative\n"} {
		if _, err := parseMemberships(bad); err == nil {
			t.Errorf("parseMemberships(%q) found no fault", bad)
		}
	}
}

func TestParseMounts(t *testing.T) {
	text := `23 1 0:21 / /proc rw - proc proc rw
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
41 31 0:38 /docker/a /sys/fs/cg\040two rw shared:1 master:2 - cgroup2 cgroup2 rw
`
	got, err := parseMounts(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []mount{{"/", "/sys/fs/cgroup/memory", false}, {"/docker/a", "/sys/fs/cg two", true}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(mount{})); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"41 31\n", "41 31 0:38 / /x rw cgroup2\n", "41 31 0:38 - cgroup2 x\n"} {
		if _, err := parseMounts(bad); err == nil {
			t.Errorf("parseMounts(%q) found no fault", bad)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`/a\040b\011c\134`: "/a b\tc\\",
		`/plain`:           "/plain",
		`\04`:              `\04`,
		`\999`:             `\999`,
		`\777`:             `\777`, // does not fit a byte
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAncestry(t *testing.T) {
	for _, c := range []struct {
		name   string
		m      membership
		mounts []mount
		want   []group
	}{
		{"whole tree", membership{"/a/b", true}, []mount{{"/", "/cg", true}},
			[]group{{"/a/b", "/cg/a/b", true}, {"/a", "/cg/a", true}, {"/", "/cg", true}}},
		{"the root", membership{"/", true}, []mount{{"/", "/cg", true}}, []group{{"/", "/cg", true}}},
		{"container shows its own part", membership{"/docker/x", false}, []mount{{"/docker/x", "/cg/memory", false}},
			[]group{{"/docker/x", "/cg/memory", false}}},
		{"part of the tree", membership{"/docker/x/y", true}, []mount{{"/docker", "/cg", true}},
			[]group{{"/docker/x/y", "/cg/x/y", true}, {"/docker/x", "/cg/x", true}, {"/docker", "/cg", true}}},
		{"the mount that shows most", membership{"/a/b", true}, []mount{{"/a/b", "/small", true}, {"/", "/cg", true}},
			[]group{{"/a/b", "/cg/a/b", true}, {"/a", "/cg/a", true}, {"/", "/cg", true}}},
		{"elsewhere", membership{"/host/x", true}, []mount{{"/docker", "/cg", true}}, []group{{"/host/x", "/cg", true}}},
		{"no name prefix", membership{"/dockerx", true}, []mount{{"/docker", "/cg", true}}, []group{{"/dockerx", "/cg", true}}},
		{"out of the namespace", membership{"/../x", true}, []mount{{"/", "/cg", true}}, []group{{"/../x", "/cg", true}}},
		{"other version", membership{"/a", true}, []mount{{"/", "/cg", false}}, nil},
		{"not mounted", membership{"/a", true}, nil, nil},
	} {
		got := ancestry(c.m, c.mounts)
		if d := cmp.Diff(c.want, got, cmp.AllowUnexported(group{})); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}

// says reports whether err has the text want; "" asks for no error.
func says(err error, want string) bool {
	if want == "" || err == nil {
		return want == "" && err == nil
	}
	return strings.Contains(err.Error(), want)
}
