package far

import "golang.org/x/sys/unix"

// mayLock reports whether this process may lock as much memory as it likes. An RDMA
// device has all of the arena locked: where that is limited, a program that has more
// memory in its windows would fail for a device that it can do without.
func mayLock() bool {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) == nil && limit.Cur == unix.RLIM_INFINITY {
		return true
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}
