package transporttest

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Bind has all threads of a process run on a core, and those that they will start.
func Bind(process, core int) error {
	var cores unix.CPUSet
	cores.Set(core)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", process))
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &cores); err != nil && err != unix.ESRCH { // it has ended meanwhile
			return os.NewSyscallError("sched_setaffinity", err)
		}
	}
	return nil
}
