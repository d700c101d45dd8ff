package main

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A pair is two logical CPUs of different cores.
type pair struct{ one, other int }

// firstPair returns the cores that the launchers give two ranks: the first two of
// those this process may use. false: it can use only one.
func firstPair() (pair, bool, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return pair{}, false, fmt.Errorf("which cores this process may use: %w", err)
	}
	p, ok := pairOf(os.DirFS("/"), members(&allowed))
	// Two threads that wait for each other by spinning must run at the same time.
	return p, ok && runtime.GOMAXPROCS(0) > 1, nil
}

// members lists a set's CPUs in their order.
func members(set *unix.CPUSet) (cpus []int) {
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// pairOf returns the first CPU, and the first after it that is no hyperthread of the
// same core: those share their caches. root is the root directory.
func pairOf(root fs.FS, cpus []int) (pair, bool) {
	for _, cpu := range cpus {
		if cpu != cpus[0] && !sameCore(root, cpus[0], cpu) {
			return pair{cpus[0], cpu}, true
		}
	}
	return pair{}, false
}

// sameCore compares the two CPUs' lists of the hyperthreads of their core. What the
// kernel does not tell of is a core by itself.
func sameCore(root fs.FS, a, b int) bool {
	siblings := func(cpu int) string {
		text, err := fs.ReadFile(root, fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		if err != nil {
			return fmt.Sprint(cpu)
		}
		return string(text)
	}
	return siblings(a) == siblings(b)
}
