package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What a host needs that runs so many ranks, roughly: a supervisor has a socket and
// three pipes for each rank, a rank a connection to each peer on other hosts, and each
// rank that is a Go program a dozen threads.
const (
	filesPerRank   = 16
	filesAtLeast   = 4096
	threadsPerRank = 24
	threadsAlone   = 100
	littleLocked   = 64 << 10 // bytes
)

// limits looks at what the system allows this user.
func (c *Config) limits() []Finding {
	ranks := c.Ranks
	if ranks == 0 {
		ranks = runtime.NumCPU()
	}
	found := []Finding{files(ranks), locked()}
	if f, known := processes(ranks); known {
		found = append(found, f)
	}
	return append(found, c.pids(ranks)...)
}

// files looks at the hard limit: golaunch and its ranks raise their own to it.
func files(ranks int) Finding {
	const check = "open files"
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return warn(check, "ulimit -Hn shows it", "the limit is not known: %v", err)
	}
	if want := uint64(max(filesAtLeast, ranks*filesPerRank)); l.Max < want {
		return warn(check, fmt.Sprintf("ulimit -Hn %d, or LimitNOFILE=%d in the agent's unit", want, want),
			"%d may be open at once, and %s may need %d", l.Max, count(ranks, "rank"), want)
	}
	return ok(check, "%s", amount(l.Max))
}

func locked() Finding {
	const check = "locked memory"
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return warn(check, "ulimit -l shows it", "the limit is not known: %v", err)
	}
	if l.Cur < littleLocked {
		return warn(check, "ulimit -l unlimited, or LimitMEMLOCK=infinity in the agent's unit",
			"%d bytes: network adapters that read memory themselves cannot be used", l.Cur)
	}
	if l.Cur == unix.RLIM_INFINITY {
		return ok(check, "no limit")
	}
	return ok(check, "%d KB", l.Cur>>10)
}

// processes looks at the user's limit, which does not bind root.
func processes(ranks int) (f Finding, known bool) {
	const check = "processes"
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &l); err != nil || os.Geteuid() == 0 {
		return f, false
	}
	if want := uint64(threadsAlone + ranks*threadsPerRank); l.Cur < want {
		return warn(check, fmt.Sprintf("ulimit -u %d, or LimitNPROC=%d in the agent's unit", want, want),
			"this user may have %d, threads included, and %s may need %d", l.Cur, count(ranks, "rank"), want), true
	}
	return ok(check, "%s", amount(l.Cur)), true
}

func amount(n uint64) string {
	if n == unix.RLIM_INFINITY {
		return "no limit"
	}
	return fmt.Sprintf("%d", n)
}

// pids looks at the control groups that this process is in, from its own to the root.
func (c *Config) pids(ranks int) []Finding {
	const check = "processes of the control group"
	want := threadsAlone + ranks*threadsPerRank
	var left, limit int
	var group string
	for dir := c.ownGroup(); dir != ""; dir = above(dir) {
		path := filepath.Join(c.Root, "sys/fs/cgroup", dir)
		most, err1 := readNumber(filepath.Join(path, "pids.max"))
		now, err2 := readNumber(filepath.Join(path, "pids.current"))
		if err1 == nil && err2 == nil && (group == "" || most-now < left) {
			left, limit, group = most-now, most, dir
		}
	}
	switch {
	case group == "":
		return nil // there is no limit, or no control group
	case left < want:
		return []Finding{warn(check, "TasksMax=infinity in the agent's unit, or the container's pids limit",
			"%d of %d are left in %s, and %s may need %d", left, limit, group, count(ranks, "rank"), want)}
	}
	return []Finding{ok(check, "%d of %d are left in %s", left, limit, group)}
}

// ownGroup is this process's in the unified hierarchy, "" if there is none.
func (c *Config) ownGroup() string {
	text, err := os.ReadFile(filepath.Join(c.Root, "proc/self/cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			return filepath.Clean("/" + path)
		}
	}
	return ""
}

// above is the group above, "" for the root.
func above(dir string) string {
	if dir == "/" {
		return ""
	}
	return filepath.Dir(dir)
}

// readNumber reads a number; "max" is none.
func readNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}
