package cores

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Quota is how many CPUs' time the control groups of this process allow it: the
// least of its own group's and of every group's above it. false: no limit. root is
// the root directory.
func Quota(root fs.FS) (float64, bool) {
	memberships := read(root, "proc/self/cgroup")
	mounts := read(root, "proc/self/mountinfo")
	least, limited := 0.0, false
	for _, dir := range groups(memberships, mounts) {
		for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
			if q, ok := quotaOf(root, dir); ok && (!limited || q < least) {
				least, limited = q, true
			}
		}
	}
	return least, limited
}

// groups lists where the groups of this process that may limit CPU time can be
// seen, relative to the root directory: version 2's, and version 1's cpu
// controller's.
func groups(memberships, mountinfo string) (dirs []string) {
	for line := range strings.Lines(memberships) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		kind := ""
		switch {
		case f[0] == "0" && f[1] == "":
			kind = "cgroup2"
		case slices.Contains(strings.Split(f[1], ","), "cpu"):
			kind = "cgroup"
		default:
			continue
		}
		if dir, ok := seenAt(mountinfo, kind, f[2]); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// seenAt returns where group is mounted. In a container the mount may begin below
// the hierarchy's root; a group outside the mount is seen as the mount itself.
func seenAt(mountinfo, kind, group string) (string, bool) {
	for line := range strings.Lines(mountinfo) {
		left, right, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if len(l) < 5 || len(r) < 3 || r[0] != kind {
			continue
		}
		if kind == "cgroup" && !slices.Contains(strings.Split(r[2], ","), "cpu") {
			continue
		}
		below, ok := strings.CutPrefix(path.Clean(group), strings.TrimSuffix(l[3], "/"))
		if !ok || strings.Contains(group, "..") {
			below = ""
		}
		return strings.TrimPrefix(path.Join(l[4], below), "/"), true
	}
	return "", false
}

// quotaOf reads one group's limit, of either version.
func quotaOf(root fs.FS, dir string) (float64, bool) {
	if f := strings.Fields(read(root, path.Join(dir, "cpu.max"))); len(f) > 0 {
		return ratio(f[0], append(f, "100000")[1])
	}
	return ratio(read(root, path.Join(dir, "cpu.cfs_quota_us")), read(root, path.Join(dir, "cpu.cfs_period_us")))
}

// ratio divides; false for "max", -1 and what is no number.
func ratio(quota, period string) (float64, bool) {
	q, err := strconv.ParseInt(strings.TrimSpace(quota), 10, 64)
	p, err2 := strconv.ParseInt(strings.TrimSpace(period), 10, 64)
	if err != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}

// read returns a file's text, "" when it cannot be read.
func read(root fs.FS, name string) string {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(b)
}
