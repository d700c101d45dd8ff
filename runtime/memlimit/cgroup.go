package memlimit

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A membership is one hierarchy this process belongs to that may limit memory:
// a line of /proc/self/cgroup.
type membership struct {
	path string
	v2   bool
}

// parseMemberships reads /proc/self/cgroup ("4:memory:/a/b", "0::/a/b") and
// keeps version 2 and version 1's memory controller.
func parseMemberships(text string) ([]membership, error) {
	var found []membership
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("%q is not id:controllers:path", line)
		}
		if !strings.HasPrefix(f[2], "/") {
			return nil, fmt.Errorf("%q: the path does not begin with /", line)
		}
		v2 := f[0] == "0" && f[1] == ""
		if v2 || slices.Contains(strings.Split(f[1], ","), "memory") {
			found = append(found, membership{f[2], v2})
		}
	}
	return found, nil
}

// A mount is one place where a cgroup hierarchy can be seen: a line of
// /proc/self/mountinfo.
type mount struct {
	root  string // the cgroup that appears at point
	point string
	v2    bool
}

// parseMounts reads /proc/self/mountinfo and keeps the mounts of version 2 and
// of version 1's memory controller.
func parseMounts(text string) ([]mount, error) {
	var found []mount
	for line := range strings.Lines(text) {
		left, right, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(r) < 2 {
			return nil, fmt.Errorf("%q is no line of mountinfo", line)
		}
		memory := len(r) > 2 && slices.Contains(strings.Split(r[2], ","), "memory")
		if v2 := r[0] == "cgroup2"; v2 || r[0] == "cgroup" && memory {
			root, point := path.Clean("/"+unescape(l[3])), path.Clean("/"+unescape(l[4]))
			found = append(found, mount{root, point, v2})
		}
	}
	return found, nil
}

// unescape undoes mountinfo's octal escapes: \040 is a space.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ancestry lists m's cgroup and those above it, as far as a mount shows them.
// When no mount shows m's own cgroup (a container whose /proc tells of the
// host's paths), the mounts' roots are the best there is.
func ancestry(m membership, mounts []mount) []group {
	var best []group
	for _, at := range mounts {
		if at.v2 != m.v2 {
			continue
		}
		if g := seenAt(m, at); len(g) > len(best) {
			best = g
		}
	}
	return best
}

// seenAt lists the groups from m's up to the root of one mount.
func seenAt(m membership, at mount) []group {
	rel, ok := below(at.root, m.path)
	if !ok {
		return []group{{m.path, at.point, m.v2}}
	}
	var groups []group
	for {
		groups = append(groups, group{path.Join(at.root, rel), path.Join(at.point, rel), m.v2})
		if rel == "." {
			return groups
		}
		rel = path.Dir(rel)
	}
}

// below returns p relative to root ("." for root itself). false: p is elsewhere,
// or climbs out of a cgroup namespace ("/../x").
func below(root, p string) (string, bool) {
	if slices.Contains(strings.Split(p, "/"), "..") {
		return "", false
	}
	root, p = path.Clean(root), path.Clean(p)
	if root == p {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(root, "/")+"/")
}
