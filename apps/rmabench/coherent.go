package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/window"
)

// The op coherent times what a coherent window adds and saves: operations that find the
// page on the origin's host; a Get and a load that do not, where the page's home may only read
// it, and where the home has written it since, and is to be kept from that; and beside these, in
// turn with them, a Get of as many bytes from a plain window and an echo, which goes the way of a
// miss through both pagers and touches no page.

const (
	pageBytes = 4096
	pageWords = pageBytes / word
	// missesPerBatch pages are missed by Gets in a batch, and as many by loads.
	missesPerBatch = 100
	hitsPerBatch   = 20000
	// isolatedPerBatch are timed after a pause each, while everybody sleeps.
	isolatedPerBatch = 5
)

// A timed is an operation of which each one is timed.
type timed struct {
	name string
	do   func() error
}

// A cached is one rank's part of the op.
type cached struct {
	*suite
	window *window.Window[int64]
	plain  *window.Window[int64]
	all    []int64
	page   []int64
	order  []int                // pages of the target's part, those that are to be missed next first
	names  []string             // of what was timed, in the order in which it was first
	times  map[string][]float64 // in microseconds
}

func (s *suite) coherent() error {
	pages := 2*(missesPerBatch+isolatedPerBatch)*s.opt.Batches + 1
	c := &cached{suite: s, page: make([]int64, pageWords), order: rand.New(rand.NewPCG(1, 2)).Perm(pages - 1), times: map[string][]float64{}}
	var err error
	if c.window, err = window.Allocate[int64](s.ctx, s.comm, pages*pageWords, window.Name("coherent"), window.Coherent); err != nil {
		return err
	}
	if c.plain, err = window.Allocate[int64](s.ctx, s.comm, pageWords, window.Name("plain")); err != nil {
		return err
	}
	if c.all, err = c.window.Map(); err != nil {
		return err
	}
	if err := c.measure(pages); err != nil {
		return err
	}
	if err := c.plain.Free(s.ctx); err != nil {
		return err
	}
	return c.window.Free(s.ctx)
}

func (c *cached) measure(pages int) error {
	if c.is(target) {
		for p := range pages {
			c.window.Local()[p*pageWords] = int64(p)
		}
	}
	if err := c.window.Fence(c.ctx); err != nil {
		return err
	}
	if err := c.plain.Fence(c.ctx); err != nil {
		return err
	}
	if c.is(origin) {
		if err := c.batches(); err != nil {
			return err
		}
		if err := c.print(); err != nil {
			return err
		}
	}
	if err := c.plain.Fence(c.ctx); err != nil {
		return err
	}
	return c.window.Fence(c.ctx)
}

// calm is how long the target polls, at most, when it was woken. A miss wakes no rank, and a plain
// Get the target: each is timed when what came before has been forgotten.
const calm = 25 * time.Millisecond

// batches is the origin's. On one host there is nothing to be missed.
func (c *cached) batches() error {
	time.Sleep(calm)
	for range c.opt.Batches {
		if err := c.hits(); err != nil {
			return err
		}
	}
	if c.window.Path(target) == "shm" {
		return nil
	}
	for range c.opt.Batches { // pages that the target has written
		if err := c.batch(c.kinds("_written")...); err != nil {
			return err
		}
	}
	if err := c.evict(); err != nil {
		return err
	}
	all := append(c.kinds(""), timed{"plain_get_page", c.plainGet}, timed{"pager_echo", c.window.Echo})
	for range c.opt.Batches {
		if err := c.batch(all...); err != nil {
			return err
		}
		if err := c.isolated(all...); err != nil {
			return err
		}
	}
	return nil
}

func (c *cached) hits() error {
	one := []int64{0}
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"coherent_get", func() error { return c.window.Get(target, len(c.order)*pageWords, one) }}, // of a page that is not to be missed
		{"coherent_put", func() error { return c.window.Put(origin, 0, one) }},
		{"coherent_fetch_add", func() error { _, err := c.window.FetchAdd(origin, 1, 1); return err }},
	} {
		if err := op.do(); err != nil { // from now on the page is there
			return err
		}
		start := time.Now()
		for range hitsPerBatch {
			if err := op.do(); err != nil {
				return err
			}
		}
		c.note(op.name, time.Since(start), hitsPerBatch)
	}
	return nil
}

// kinds are the two ways of missing a page.
func (c *cached) kinds(suffix string) []timed {
	return []timed{{"coherent_get_miss" + suffix, c.missByGet}, {"coherent_load_miss" + suffix, c.missByLoad}}
}

// batch times operations of each kind, back to back.
func (c *cached) batch(kinds ...timed) error {
	for _, k := range kinds {
		time.Sleep(calm)
		for range missesPerBatch {
			if err := c.clock(k.name, k.do); err != nil {
				return err
			}
		}
	}
	return nil
}

// isolated times operations in turn, with a pause before each.
func (c *cached) isolated(kinds ...timed) error {
	for range isolatedPerBatch {
		for _, k := range kinds {
			time.Sleep(calm)
			if err := c.clock(k.name+"_isolated", k.do); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cached) clock(name string, do func() error) error {
	start := time.Now()
	err := do()
	c.note(name, time.Since(start), 1)
	return err
}

func (c *cached) missByGet() error {
	page, one := c.another(), []int64{0}
	if err := c.window.Get(target, page*pageWords, one); err != nil {
		return err
	}
	return isPage(page, one[0])
}

func (c *cached) missByLoad() error {
	page := c.another()
	return isPage(page, c.all[target*c.window.Stride()+page*pageWords])
}

func isPage(page int, holds int64) error {
	if holds != int64(page) {
		return fmt.Errorf("page %d holds %d", page, holds)
	}
	return nil
}

func (c *cached) plainGet() error { return c.plain.Get(target, 0, c.page) }

// another is the page that was not touched for longest; they are in no order that the pager
// could guess.
func (c *cached) another() (page int) {
	page = c.order[0]
	c.order = append(c.order[1:], page)
	return page
}

// evict has the pages fetched again by who wants them next.
func (c *cached) evict() error {
	time.Sleep(calm) // what was fetched a moment ago would stay
	first := target * c.window.Stride()
	if err := c.window.Evict(first, len(c.order)*pageWords); err != nil {
		return err
	}
	return c.window.Echo() // behind that
}

// note takes the time of n operations.
func (c *cached) note(name string, d time.Duration, n int) {
	if c.times[name] == nil {
		c.names = append(c.names, name)
	}
	c.times[name] = append(c.times[name], float64(d.Nanoseconds())/1000/float64(n))
}

func (c *cached) print() error {
	for _, name := range c.names {
		bytes := word
		if !strings.HasPrefix(name, "coherent") {
			bytes = pageBytes
		}
		r := bench.Result{Op: name, Bytes: bytes, US: figures.Median(c.times[name]), Ranks: c.comm.Size(), Transport: c.window.Path(target)}
		if err := c.printer.Print(r); err != nil {
			return err
		}
	}
	return nil
}
