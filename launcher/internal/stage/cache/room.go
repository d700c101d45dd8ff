package cache

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/eviction"
	"github.com/golaunch/golaunch/launcher/internal/stage/private"
)

// Full says that a blob does not fit beside what is in use.
type Full struct {
	Need, InUse, Limit int64 // bytes
}

func (f *Full) Error() string {
	return fmt.Sprintf("%d bytes do not fit: %d are in use by jobs and transfers, and the limit is %d", f.Need, f.InUse, f.Limit)
}

// reserve makes room for size bytes, which count from now on.
func (c *Cache) reserve(size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.makeRoom(size); err != nil {
		return err
	}
	c.growing += size
	return nil
}

// release ends a reservation.
func (c *Cache) release(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.growing -= size
}

// makeRoom evicts what must go. A blob that is used meanwhile stays, and the choice
// is made again without it.
func (c *Cache) makeRoom(size int64) error {
	for {
		entries, err := c.entries()
		if err != nil {
			return err
		}
		if total(entries) <= c.limit-size {
			return nil
		}
		c.markHeld(entries)
		victims, ok := eviction.Choose(entries, c.limit, size)
		if !ok {
			return &Full{size, inUse(entries), c.limit}
		}
		all := true
		for _, v := range victims {
			gone, err := c.evict(v.Name)
			if err != nil {
				return err
			}
			all = all && gone
		}
		if all {
			return nil
		}
	}
}

// entries are the blobs, and what is growing as one. What is no blob is left alone,
// and reported by who asks for it.
func (c *Cache) entries() ([]eviction.Entry, error) {
	names, err := c.blobs.Names()
	if err != nil {
		return nil, err
	}
	entries := []eviction.Entry{{Size: c.growing, Held: true}}
	for _, name := range names {
		stat, err := c.blobs.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := digest.Parse(name); err == nil && stat.Mode&unix.S_IFMT == unix.S_IFREG {
			entries = append(entries, eviction.Entry{Name: name, Size: stat.Size, Used: stat.Atim.Nano()})
		}
	}
	return entries, nil
}

func total(entries []eviction.Entry) (sum int64) {
	for _, e := range entries {
		sum += e.Size
	}
	return sum
}

func inUse(entries []eviction.Entry) (sum int64) {
	for _, e := range entries {
		if e.Held {
			sum += e.Size
		}
	}
	return sum
}

// markHeld looks which blobs somebody holds. What cannot be opened is left alone.
func (c *Cache) markHeld(entries []eviction.Entry) {
	for i := range entries {
		if e := &entries[i]; !e.Held {
			idle, err := c.whileIdle(e.Name, func() error { return nil })
			e.Held = !idle || err != nil
		}
	}
}

// evict removes a blob unless somebody holds it.
func (c *Cache) evict(name string) (gone bool, err error) {
	sum, err := digest.Parse(name)
	if err != nil {
		return false, err
	}
	return c.whileIdle(name, func() error {
		delete(c.stamps, sum)
		return c.blobs.Remove(name)
	})
}

// whileIdle does something while nobody can begin to use a blob, if nobody uses it.
func (c *Cache) whileIdle(name string, do func() error) (idle bool, err error) {
	f, err := c.blobs.Open(name, unix.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if idle, err = private.Seize(f); !idle || err != nil {
		return false, err
	}
	return true, do()
}
