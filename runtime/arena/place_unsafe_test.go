package arena

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nodesOfPages returns the NUMA node of each page of mem.
func nodesOfPages(mem []byte) ([]int, error) {
	page := os.Getpagesize()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) &^ uintptr(page-1)
	count := (int(start(mem)-first) + len(mem) + page - 1) / page
	pages, status := make([]uintptr, count), make([]int32, count)
	for i := range pages {
		pages[i] = first + uintptr(i*page)
	}
	// Without nodes to move the pages to, the call tells where they are.
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(count), uintptr(unsafe.Pointer(&pages[0])), 0, uintptr(unsafe.Pointer(&status[0])), 0)
	runtime.KeepAlive(mem)
	nodes := make([]int, count)
	for i := range nodes {
		nodes[i] = int(status[i])
	}
	if errno != 0 {
		return nil, os.NewSyscallError("move_pages", errno)
	}
	return nodes, nil
}
