// Package cache keeps content on disk by its name, the SHA-256.
//
//	DIR/blobs/3f5f4c2...   whole and verified, mode 0500
//	DIR/partial/...        being written; what a crash has left is removed by Open
//
// Nothing in blobs is believed because it is there. The first [Cache.Lease] of a
// blob reads it all; later ones of the same Cache compare what every write changes
// (inode, size, times). That is why nothing is synced to disk: what a power failure
// has damaged is found and fetched again.
//
// A blob in use is one whose descriptor somebody holds a shared lock on, in
// whatever process. It is never evicted.
package cache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/golaunch/golaunch/launcher/internal/stage/digest"
	"github.com/golaunch/golaunch/launcher/internal/stage/private"
)

// DefaultLimit is how much a cache holds, in bytes.
const DefaultLimit = 16 << 30

// Options of a cache.
type Options struct {
	// Limit is how many bytes it may hold; 0: DefaultLimit.
	Limit int64
	// Report is told of everything that was refused; nil: nobody is. It is called
	// from the goroutine that came across it.
	Report func(*Refused)
}

// A Cache is a directory of blobs. Any goroutine may use it, and several processes
// of one user may have it open.
type Cache struct {
	limit  int64
	report func(*Refused)

	root, blobs, partial *private.Dir

	mu      sync.Mutex
	growing int64                // bytes that partial blobs will have
	stamps  map[digest.Sum]stamp // of blobs that were read and found right
}

// ErrMissing says that a blob is not in the cache.
var ErrMissing = errors.New("not in the cache")

// Refused is an entry of the cache that cannot be what the cache has put there.
type Refused struct {
	Path, Why string
}

func (r *Refused) Error() string { return r.Path + " " + r.Why + ": refused" }

// Open opens the cache in a directory, which it makes if there is none, and removes
// what a crash has left.
func Open(dir string, o Options) (*Cache, error) {
	c := &Cache{limit: o.Limit, report: o.Report, stamps: map[digest.Sum]stamp{}}
	if c.limit == 0 {
		c.limit = DefaultLimit
	}
	if c.report == nil {
		c.report = func(*Refused) {}
	}
	if err := c.open(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("cache: %w", err), c.Close())
	}
	return c, nil
}

func (c *Cache) open(dir string) (err error) {
	if c.root, err = private.Open(dir); err != nil {
		return err
	}
	if c.blobs, err = c.root.Sub("blobs"); err != nil {
		return err
	}
	if c.partial, err = c.root.Sub("partial"); err != nil {
		return err
	}
	return c.sweep()
}

// Close closes the directories. Leases outlive it.
func (c *Cache) Close() error {
	var err error
	for _, d := range []*private.Dir{c.root, c.blobs, c.partial} {
		if d != nil {
			err = errors.Join(err, d.Close())
		}
	}
	return err
}

// Dir is the cache's directory.
func (c *Cache) Dir() *private.Dir { return c.root }

// sweep removes partial blobs that nobody writes.
func (c *Cache) sweep() error {
	names, err := c.partial.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := c.sweepOne(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (c *Cache) sweepOne(name string) error {
	f, err := c.partial.Open(name, unix.O_RDONLY, 0)
	if errors.Is(err, unix.ELOOP) {
		return c.partial.Remove(name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if idle, err := private.Seize(f); !idle || err != nil {
		return err
	}
	return c.partial.Remove(name)
}

// Create begins a blob of size bytes, for which other blobs may have to go.
func (c *Cache) Create(sum digest.Sum, size int64) (*Partial, error) {
	if size < 0 {
		return nil, fmt.Errorf("cache: blob %s of %d bytes", sum.Short(), size)
	}
	if err := c.reserve(size); err != nil {
		return nil, fmt.Errorf("cache %s: blob %s: %w", c.root.Path(""), sum.Short(), err)
	}
	p := &Partial{cache: c, sum: sum, size: size, name: rand.Text()}
	if err := p.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("cache: blob %s of %d bytes: %w", sum.Short(), size, err), p.Discard())
	}
	return p, nil
}
