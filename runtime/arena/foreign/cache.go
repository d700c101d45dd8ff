package foreign

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golaunch/golaunch/runtime/arena/foreign/ranges"
	"github.com/golaunch/golaunch/runtime/memlimit"
	"github.com/golaunch/golaunch/transport"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrInUse: an operation uses the memory yet.
	ErrInUse = errors.New("in use by an operation")
	// ErrEmpty: no bytes.
	ErrEmpty = errors.New("no memory")
)

// A Registrar makes memory accessible to peers. A transport's Endpoint is one, if it
// takes other memory than the arena's.
type Registrar interface {
	// Register is transport.Endpoint's, with a key and an offset of 0.
	Register(key uint64, offset int64, mem []byte) (transport.Region, error)
}

// Config is what a cache needs from the world around it.
type Config struct {
	// Rank is named in errors.
	Rank int
	// Registrar registers.
	Registrar Registrar
	// Limit is how many bytes may be registered before idle registrations are ended.
	// What is in use may exceed it.
	Limit int64
	// Relieve, if not nil, is called when the registrar has refused although nothing
	// is idle any more, before the last attempt: somebody else may have registrations
	// to spare. It may block, and must not call the cache.
	Relieve func()
}

// A Cache is one rank's registrations of foreign memory.
type Cache struct {
	cfg     Config
	adopted atomic.Pointer[adopted]

	changing sync.Mutex

	mu      sync.Mutex
	ranges  ranges.Cache[transport.Region]
	figures Figures
}

// Figures count what a cache has done.
type Figures struct {
	// Hits counts Acquires that found the memory registered, Misses those that did not.
	Hits, Misses uint64
	// Evictions counts registrations that were ended for want of room.
	Evictions uint64
	// Registered is bytes that are registered now, Idle those of them that no operation
	// uses. What is registered twice counts twice.
	Registered, Idle int64
	// Registering is the time spent in calls of the registrar and in ending
	// registrations.
	Registering time.Duration
}

// New returns an empty cache.
func New(cfg Config) *Cache { return &Cache{cfg: cfg} }

// Figures returns the present figures, consistent with each other.
func (c *Cache) Figures() Figures {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.figures
	f.Registered, f.Idle = c.ranges.Bytes()
	return f
}

type entry = ranges.Entry[transport.Region]

// A Use is one operation's use of memory that is registered.
type Use struct {
	cache  *Cache
	entry  *entry
	remote transport.Remote
}

// Remote is what peers need in order to reach the memory, until Release.
func (u Use) Remote() transport.Remote { return u.remote }

// Release ends the use; it is called once. The error is the registrar's, if this was
// the last use of what was invalidated meanwhile.
func (u Use) Release() error {
	u.cache.mu.Lock()
	end := u.cache.ranges.Release(u.entry)
	u.cache.mu.Unlock()
	if !end {
		return nil
	}
	return u.cache.end([]*entry{u.entry})
}

// Acquire has adopted memory registered for one operation. ok is false if mem was not
// adopted, whole: it may be anything then, and is not registered. It may be called for
// any memory and costs some nanoseconds then.
func (c *Cache) Acquire(mem []byte) (use Use, ok bool, err error) {
	r := rangeOf(mem)
	if c.isFar(r) {
		return Use{}, false, nil
	}
	if e := c.find(r); e != nil { // only what is adopted is registered
		return c.use(e, r), true, nil
	}
	if !c.isAdopted(r) {
		return Use{}, false, nil
	}
	e, err := c.register(r, mem)
	if err != nil {
		return Use{}, true, err
	}
	return c.use(e, r), true, nil
}

func (c *Cache) use(e *entry, r ranges.Range) Use {
	all := e.Value.Remote()
	return Use{c, e, transport.Remote{Key: all.Key, Offset: all.Offset + int64(r.Start-e.Start), Len: r.Bytes()}}
}

func (c *Cache) find(r ranges.Range) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ranges.Find(r)
	if e != nil {
		c.figures.Hits++
	}
	return e
}

// register registers mem, unless somebody else has meanwhile.
func (c *Cache) register(r ranges.Range, mem []byte) (*entry, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	if e := c.find(r); e != nil {
		return e, nil
	}
	if !c.isAdopted(r) {
		return nil, c.errorf("registering %d bytes at %#x: they were invalidated meanwhile", len(mem), r.Start)
	}
	if err := c.shrink(c.cfg.Limit - r.Bytes()); err != nil {
		return nil, err
	}
	region, err := c.call(mem)
	if err != nil {
		return nil, c.refused(mem, r, err)
	}
	c.mu.Lock()
	c.figures.Misses++
	e, end := c.ranges.Add(r, region)
	c.mu.Unlock()
	if err := c.end(end); err != nil {
		return nil, errors.Join(err, Use{cache: c, entry: e}.Release())
	}
	return e, nil
}

// call calls the registrar; if it refuses, once more when everything that is idle was
// given up, and a last time when somebody else has given up what he could.
func (c *Cache) call(mem []byte) (transport.Region, error) {
	region, err := c.timed(mem)
	if err == nil {
		return region, nil
	}
	if _, idle := c.bytes(); idle > 0 {
		if failed := c.shrink(0); failed != nil {
			return nil, errors.Join(err, failed)
		}
		if region, err = c.timed(mem); err == nil {
			return region, nil
		}
	}
	if c.cfg.Relieve == nil {
		return nil, err
	}
	c.cfg.Relieve()
	return c.timed(mem)
}

func (c *Cache) timed(mem []byte) (transport.Region, error) {
	began := time.Now()
	region, err := c.cfg.Registrar.Register(0, 0, mem)
	c.spent(began)
	return region, err
}

func (c *Cache) spent(began time.Time) {
	took := time.Since(began)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.figures.Registering += took
}

func (c *Cache) bytes() (all, idle int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ranges.Bytes()
}

// shrink ends idle registrations, those first that were not used for the longest time,
// until at most so many bytes are registered or none is idle.
func (c *Cache) shrink(to int64) error {
	var batch []*entry
	c.mu.Lock()
	for all, idle := c.ranges.Bytes(); all > to && idle > 0; all, idle = c.ranges.Bytes() {
		batch = append(batch, c.ranges.Evict())
	}
	c.figures.Evictions += uint64(len(batch))
	c.mu.Unlock()
	return c.end(batch)
}

// end ends registrations that nobody uses nor finds.
func (c *Cache) end(batch []*entry) error {
	if len(batch) == 0 {
		return nil
	}
	defer c.spent(time.Now())
	var err error
	for _, e := range batch {
		if failed := e.Value.Close(); failed != nil {
			err = errors.Join(err, c.errorf("ending the registration of %d bytes at %#x: %w", e.Bytes(), e.Start, failed))
		}
	}
	return err
}

// refused is the error for memory that cannot be registered. It says what is.
func (c *Cache) refused(mem []byte, r ranges.Range, err error) error {
	all, _ := c.bytes()
	return c.errorf("registering %d bytes at %#x, beside %s of foreign memory: %w", len(mem), r.Start, memlimit.Bytes(all), err)
}

func (c *Cache) errorf(format string, args ...any) error {
	return fmt.Errorf("rank %d: foreign memory: %w", c.cfg.Rank, fmt.Errorf(format, args...))
}
