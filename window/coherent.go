package window

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/golaunch/golaunch/runtime/world"
	"github.com/golaunch/golaunch/window/pager"
	"github.com/golaunch/golaunch/window/pager/line"
	_ "github.com/golaunch/golaunch/window/pager/process" // the pager is a second instance of this program
)

// Coherent has each host cache the pages that its ranks use, whosever part they are in,
// and keeps them sequentially consistent: a page is written by one host, or read by
// several (docs/coherence.md). Operations that find what they need in the cache cost as much as
// on memory of this host, and [Window.Map] gives the whole window as one slice.
//
// All ranks must ask for it, or none.
var Coherent Option = func(o *options) { o.coherent = true }

// CacheLimit bounds the memory that a host takes for pages of a coherent window whose home is
// another host: so many bytes, rounded down to whole pages. Where one more is needed, those
// that came first are given up. The host may exceed the limit while more pages than that are
// waited for at the same moment, by all its ranks together. Parts of its own ranks do not
// count.
//
// All ranks give the same limit, of at least a page, or none.
func CacheLimit(bytes int) Option {
	return func(o *options) { o.caching.limit, o.caching.limited = bytes, true }
}

// FirstTouch makes the host that first reads or writes a page of a coherent window its home,
// where the page is stored and from where others fetch it, whosever part it is in. Without it
// that is the host of the rank whose part it is. It is for windows whose parts are not used
// by the ranks that have them: a table in one rank's part, say, each of whose rows another
// rank works on. What Prefetch asks for is touched, as is what is fetched ahead of a walk that
// reads; ahead of one that writes for the first time nothing is fetched.
//
// All ranks must ask for it, or none.
var FirstTouch Option = func(o *options) { o.caching.firstTouch = true }

// caching is what only a coherent window can be asked for.
type caching struct {
	limit      int // bytes
	limited    bool
	firstTouch bool
}

// mayAskFor returns why this rank's options of caching make no sense, nil if they do.
func (c *core) mayAskFor() error {
	switch o := c.caching; {
	case o.limited && o.limit < os.Getpagesize():
		return fmt.Errorf("CacheLimit of %d bytes, which is less than a page (%d)", o.limit, os.Getpagesize())
	case o.limited && c.coherent == nil:
		return fmt.Errorf("CacheLimit of %d bytes without Coherent", o.limit)
	case o.firstTouch && c.coherent == nil:
		return errors.New("FirstTouch without Coherent")
	}
	return nil
}

// differ returns how what a member asks for differs from what the first one does.
func (c *core) differ(m int, s, first statement) error {
	rank, zero := c.in.WorldRank(m), c.in.WorldRank(0)
	mode := s.values[5] ^ first.values[5]
	switch {
	case mode&modeCoherent != 0:
		return &refusal{rank, fmt.Sprintf("it asks for a coherent window, or rank %d does, and not both", zero)}
	case mode&modeFirstTouch != 0:
		return &refusal{rank, fmt.Sprintf("it asks for FirstTouch, or rank %d does, and not both", zero)}
	case s.values[6] != first.values[6]:
		return &refusal{rank, fmt.Sprintf("its CacheLimit is %s, that of rank %d %s", limitText(s.values[6]), zero, limitText(first.values[6]))}
	}
	return nil
}

func limitText(bytes uint64) string {
	if bytes == 0 {
		return "none"
	}
	return fmt.Sprintf("%d bytes", bytes)
}

// coherent is what a coherent window has instead of parts that are this rank's or remote:
// one mapping of all parts, each beginning at a multiple of stride.
type coherent struct {
	number uint64 // of the window, in the job
	client *pager.Client
	view   *pager.View
	stride int // bytes
	pages  int
	most   int      // elements that are held at a time; 0: any number
	paths  []string // by rank, how this host's pager reaches that of its host
}

// meetPager connects to the pager of this host, and returns its address for other hosts'.
func (c *core) meetPager(ctx context.Context) (string, error) {
	p, err := c.in.Pager(ctx, connectPager)
	if err != nil {
		return "", fmt.Errorf("a coherent window: %w", err)
	}
	c.coherent.client = p.(*pager.Client)
	return string(c.coherent.client.Address()), nil
}

func connectPager(socket *os.File, job world.PagerJob) (io.Closer, error) {
	c, err := pager.Connect(socket, line.Greeting{
		Rank: job.Rank, PID: os.Getpid(), Host: job.Host, Hosts: job.Hosts,
		Job: job.Job, Secret: job.Secret, Transport: job.Transport,
		Interface: job.Interface, Loopback: job.Loopback, Encrypt: job.Encrypt, Timeout: job.Timeout,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// openCoherent has the pager open the window, and maps it.
func (c *core) openCoherent(offers []statement) (err error) {
	spec := c.spec(offers)
	co := c.coherent
	co.stride, co.pages = int(spec.BlockPages)*os.Getpagesize(), int(spec.Pages)
	if co.view, err = co.client.Open(co.number, spec); err != nil {
		return err
	}
	for _, host := range spec.Blocks {
		co.paths = append(co.paths, co.view.Paths[host])
	}
	if spec.Limit > 0 {
		co.most = max(1, co.view.Most/c.kind.Size)
	}
	if co.view.Unmapped != nil {
		return nil
	}
	for m := range c.parts {
		c.parts[m].base = newPart(co.view.Memory[m*co.stride:], 0).base
	}
	return nil
}

// spec describes the window to the pagers. Each rank's part is a block of pages, whose
// home is its host.
func (c *core) spec(offers []statement) line.Spec {
	places := c.in.Hosts()
	hosts := slices.Compact(slices.Sorted(slices.Values(places)))
	s := line.Spec{
		Hosts: hosts, Addresses: make([][]byte, len(hosts)), Self: slices.Index(hosts, places[c.me]),
		BlockPages: blockPages(slices.Max(c.sizes), c.kind.Size), FirstTouch: c.caching.firstTouch,
	}
	s.Pages = s.BlockPages * uint32(len(places))
	s.Limit = uint32(min(c.caching.limit/os.Getpagesize(), int(s.Pages)))
	for m, host := range places {
		i := slices.Index(hosts, host)
		s.Blocks = append(s.Blocks, uint8(i))
		s.Addresses[i] = []byte(offers[m].text)
	}
	return s
}

// blockPages is how many pages a part of n elements takes, such that a whole number of
// elements fits.
func blockPages(n, size int) uint32 {
	page := os.Getpagesize()
	pages := max(1, (n*size+page-1)/page)
	whole := size / gcd(size, page) // so many pages hold a whole number of elements
	return uint32((pages + whole - 1) / whole * whole)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// closeCoherent unmaps the window: this rank uses it no more or, if that was agreed, none
// does.
func (c *core) closeCoherent(agreed bool) error {
	if c.coherent == nil || c.coherent.view == nil {
		return nil
	}
	err := c.coherent.view.Close(agreed)
	c.coherent.view = nil
	return err
}
