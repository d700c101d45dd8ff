package uffd

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A Cache is the pages of a window that a host has.
type Cache struct {
	file *os.File
	mem  []byte
	page int
}

// NewCache returns an empty cache with room for so many pages. It takes no memory for
// pages that it does not have.
func NewCache(pages int) (*Cache, error) {
	fd, err := unix.MemfdCreate("golaunch pages", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	c := &Cache{file: os.NewFile(uintptr(fd), "pages"), page: os.Getpagesize()}
	if err := c.file.Truncate(int64(pages) * int64(c.page)); err != nil {
		c.file.Close()
		return nil, fmt.Errorf("a cache of %d pages: %w", pages, err)
	}
	if c.mem, err = mapPages(c.file, pages); err != nil {
		c.file.Close()
		return nil, err
	}
	return c, nil
}

// mapPages maps a cache.
func mapPages(f *os.File, pages int) ([]byte, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("mapping %d pages: %w", pages, err)
	}
	// A child that the rank forks must not write pages behind the pager's back, and a
	// huge page would take in others that the host does not have.
	for _, advice := range []int{unix.MADV_DONTFORK, unix.MADV_NOHUGEPAGE} {
		if err := unix.Madvise(mem, advice); err != nil && err != unix.EINVAL { // a kernel without huge pages
			_ = unix.Munmap(mem)
			return nil, os.NewSyscallError("madvise", err)
		}
	}
	return mem, nil
}

// File is the memory that views map. It stays the Cache's.
func (c *Cache) File() *os.File { return c.file }

// Page is the content of a page that the cache has. It is stable while every view is
// protected there.
func (c *Cache) Page(page int) []byte { return c.mem[page*c.page : (page+1)*c.page : (page+1)*c.page] }

// Punch takes n pages from the cache and from every view.
func (c *Cache) Punch(page, n int) error {
	err := unix.Fallocate(int(c.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(page)*int64(c.page), int64(n)*int64(c.page))
	if err != nil {
		return fmt.Errorf("taking pages %d to %d away: %w", page, page+n-1, err)
	}
	return nil
}

// Resident is how many bytes of memory the pages take that the cache has.
func (c *Cache) Resident() (uint64, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(c.file.Fd()), &st)
	const block = 512 // of st_blocks, whatever the file system's is
	return uint64(st.Blocks) * block, os.NewSyscallError("fstat", err)
}

// Close gives the cache up. Views keep what they have mapped.
func (c *Cache) Close() error {
	if err := unix.Munmap(c.mem); err != nil {
		return os.NewSyscallError("munmap", err)
	}
	return c.file.Close()
}
