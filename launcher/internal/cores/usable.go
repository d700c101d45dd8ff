package cores

import (
	"io/fs"
	"math"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Usable is how many CPUs this process and its children can keep busy at once:
// those its affinity allows, or what the CPU quota of its control groups comes
// to, if that is less. At least 1.
func Usable() int {
	n := runtime.NumCPU() // of this process's affinity, when it started
	if quota, ok := Quota(os.DirFS("/")); ok {
		n = min(n, int(math.Ceil(quota)))
	}
	return max(n, 1)
}

// Sets returns the logical CPUs of each core that this process may use, in the
// order of their first CPU. It is nil when the kernel does not tell.
func Sets() []unix.CPUSet {
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return nil
	}
	return group(os.DirFS("/"), &allowed)
}

// group divides the allowed CPUs into cores.
func group(root fs.FS, allowed *unix.CPUSet) []unix.CPUSet {
	var sets []unix.CPUSet
	var taken unix.CPUSet
	for cpu := range len(allowed) * 64 {
		if !allowed.IsSet(cpu) || taken.IsSet(cpu) {
			continue
		}
		var set unix.CPUSet
		set.Set(cpu)
		for _, sibling := range siblings(root, cpu) {
			if allowed.IsSet(sibling) {
				set.Set(sibling)
				taken.Set(sibling)
			}
		}
		sets = append(sets, set)
	}
	return sets
}
