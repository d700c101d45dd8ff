package proc

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// scan walks through /proc once and calls found for each descendant of this
// process as it comes upon it, spared ones and their descendants excepted. It
// returns how many there were. A descendant with a smaller number than its parent
// is passed over; the parent is not.
func (c *Children) scan(spared func(pid int) bool, found func(pid int)) int {
	self := os.Getpid()
	tree := map[int]bool{self: true}
	var buf [512]byte
	for _, name := range processes() {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		if parent, ok := parentOf(name, buf[:]); ok && tree[parent] && !spared(pid) {
			tree[pid] = true
			found(pid)
		}
	}
	return len(tree) - 1
}

// processes lists /proc, where the kernel sorts processes by number.
func processes() []string {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return names
}

// parentOf returns the parent of a process; false: there is no such process.
func parentOf(pid string, buf []byte) (int, bool) {
	fd, err := unix.Open("/proc/"+pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return 0, false
	}
	return parseParent(buf[:n])
}

// parseParent reads the parent out of a line like "12 (some (name)) S 7 ...".
func parseParent(stat []byte) (int, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
