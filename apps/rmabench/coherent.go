package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench"
	"github.com/golaunch/golaunch/apps/internal/bench/figures"
	"github.com/golaunch/golaunch/window"
)

// The op coherent times what a coherent window adds and saves: operations that find the
// page on the origin's host; a Get and a load that do not; and beside these, in turn with
// them, a Get of as many bytes from a plain window and an echo, which goes the way of a miss
// through both pagers and touches no page.

const (
	pageBytes = 4096
	pageWords = pageBytes / word
	// missesPerBatch pages are missed by Gets in a batch, and as many by loads.
	missesPerBatch = 100
	hitsPerBatch   = 20000
)

// A cached is one rank's part of the op.
type cached struct {
	*suite
	window *window.Window[int64]
	plain  *window.Window[int64]
	all    []int64
	page   []int64
	order  []int                // pages of the target's part that were not missed yet
	times  map[string][]float64 // in microseconds
}

func (s *suite) coherent() error {
	pages := 2*missesPerBatch*s.opt.Batches + 1
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

// calm is how long the target polls, at most, when it was woken: on a machine that plays both
// hosts it may share a core with the origin.
const calm = 20 * time.Millisecond

// batches is the origin's. On one host there is nothing to be missed.
func (c *cached) batches() error {
	time.Sleep(calm)
	for range c.opt.Batches {
		if err := c.hits(); err != nil {
			return err
		}
	}
	for i := 0; i < c.opt.Batches*missesPerBatch && c.window.Path(target) != "shm"; i++ {
		if err := c.misses(); err != nil {
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

// misses is one operation of each kind, on pages in no order that could be guessed.
func (c *cached) misses() error {
	one := []int64{0}
	missed, loaded := c.another(), c.another()
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"coherent_get_miss", func() error { return c.window.Get(target, missed*pageWords, one) }},
		{"coherent_load_miss", func() error { one[0] += c.all[target*c.window.Stride()+loaded*pageWords]; return nil }},
		{"plain_get_page", func() error { return c.plain.Get(target, 0, c.page) }},
		{"pager_echo", c.window.Echo},
	} {
		start := time.Now()
		if err := op.do(); err != nil {
			return err
		}
		c.note(op.name, time.Since(start), 1)
	}
	if want := int64(missed + loaded); one[0] != want {
		return fmt.Errorf("pages %d and %d hold %d together", missed, loaded, one[0])
	}
	return nil
}

// another is a page that was not missed yet, in no order that the pager could guess.
func (c *cached) another() (page int) {
	page, c.order = c.order[0], c.order[1:]
	return page
}

// note takes the time of n operations.
func (c *cached) note(name string, d time.Duration, n int) {
	c.times[name] = append(c.times[name], float64(d.Nanoseconds())/1000/float64(n))
}

func (c *cached) print() error {
	for _, name := range []string{"coherent_get", "coherent_put", "coherent_fetch_add", "coherent_get_miss", "coherent_load_miss", "plain_get_page", "pager_echo"} {
		if len(c.times[name]) == 0 {
			continue
		}
		bytes := word
		if name == "plain_get_page" || name == "pager_echo" {
			bytes = pageBytes
		}
		r := bench.Result{Op: name, Bytes: bytes, US: figures.Median(c.times[name]), Ranks: c.comm.Size(), Transport: c.window.Path(target)}
		if err := c.printer.Print(r); err != nil {
			return err
		}
	}
	return nil
}
