package cores

import (
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const (
	v2Mounts = "25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	v1Mounts = "24 1 0:21 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
		"25 1 0:22 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
)

func TestQuota(t *testing.T) {
	for _, tt := range []struct {
		name    string
		files   map[string]string
		want    float64
		limited bool
	}{
		{"no cgroups", nil, 0, false},
		{"version 2, not limited", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mounts,
			"sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 0, false},
		{"version 2, own group", map[string]string{
			"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2Mounts,
			"sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1.5, true},
		{"version 2, the least of all above", map[string]string{
			"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2Mounts,
			"sys/fs/cgroup/a/cpu.max": "300000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "100000 50000\n",
			"sys/fs/cgroup/a/b/c/cpu.max": "max 100000\n"}, 2, true},
		{"version 1", map[string]string{
			"proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/a\n0::/\n", "proc/self/mountinfo": v1Mounts,
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "50000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 0.5, true},
		{"version 1, not limited", map[string]string{
			"proc/self/cgroup": "3:cpu,cpuacct:/a\n", "proc/self/mountinfo": v1Mounts,
			"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 0, false},
		{"container whose mount is its own group", map[string]string{
			"proc/self/cgroup": "0::/docker/x\n", "proc/self/mountinfo": "25 1 0:22 /docker/x /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2, true},
		{"container with a namespace", map[string]string{
			"proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": v2Mounts,
			"sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4, true},
		{"nonsense", map[string]string{
			"proc/self/cgroup": "what\n0::/a\n", "proc/self/mountinfo": "is\nthis - cgroup2\n" + v2Mounts,
			"sys/fs/cgroup/a/cpu.max": "many few\n", "sys/fs/cgroup/cpu.max": "\n"}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got, limited := Quota(root); got != tt.want || limited != tt.limited {
				t.Errorf("Quota = %v, %v, want %v, %v", got, limited, tt.want, tt.limited)
			}
		})
	}
}

func TestCoresOfHyperthreads(t *testing.T) {
	root := fstest.MapFS{}
	for cpu, list := range map[string]string{"0": "0,2", "2": "0,2", "1": "1,3", "3": "1,3"} {
		root["sys/devices/system/cpu/cpu"+cpu+"/topology/thread_siblings_list"] = &fstest.MapFile{Data: []byte(list + "\n")}
	}
	for _, tt := range []struct {
		allowed []int
		want    [][]int
	}{
		{[]int{0, 1, 2, 3}, [][]int{{0, 2}, {1, 3}}},
		{[]int{1, 2, 3}, [][]int{{1, 3}, {2}}},
		{[]int{5, 6}, [][]int{{5}, {6}}}, // the kernel says nothing of them
	} {
		var allowed unix.CPUSet
		for _, cpu := range tt.allowed {
			allowed.Set(cpu)
		}
		var got [][]int
		for _, set := range group(root, &allowed) {
			got = append(got, members(&set))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("allowed %v: %s", tt.allowed, diff)
		}
	}
}

func members(set *unix.CPUSet) (list []int) {
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0,4": {0, 4}, "0-2,8-9": {0, 1, 2, 8, 9}, "": nil, "a": nil, "1-": nil, "3-1": nil} {
		got, err := parseList(text)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil && want == nil && text != "3-1") {
			t.Errorf("parseList(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestOnThisMachine(t *testing.T) {
	if n := Usable(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("Usable() = %d of %d", n, runtime.NumCPU())
	}
	n := 0
	for _, set := range Sets() {
		n += set.Count()
	}
	if n != runtime.NumCPU() {
		t.Errorf("the cores have %d CPUs, this process may use %d", n, runtime.NumCPU())
	}
}

func FuzzQuotaFiles(f *testing.F) {
	f.Add("0::/a\n", v2Mounts, "150000 100000\n")
	f.Add("3:cpu,cpuacct:/a\n", v1Mounts, "-1")
	f.Fuzz(func(t *testing.T, cgroup, mountinfo, max string) {
		q, ok := Quota(fstest.MapFS{
			"proc/self/cgroup":        {Data: []byte(cgroup)},
			"proc/self/mountinfo":     {Data: []byte(mountinfo)},
			"sys/fs/cgroup/a/cpu.max": {Data: []byte(max)},
		})
		if ok && !(q > 0) {
			t.Errorf("a quota of %v", q)
		}
		parseList(max)
	})
}
