//go:build cgo && linux

package verbs

import (
	"bytes"
	"testing"

	"github.com/golaunch/golaunch/transport"
	"github.com/golaunch/golaunch/transport/transporttest"
)

// What the device does not know goes through bounce buffers, one piece after the other
// without waiting for any: a Put of 16 pieces returns while nobody takes completions.
// What it knows goes in one request from where it is.
func TestBouncesArePipelined(t *testing.T) {
	const size = 16 * largeBytes
	w := transporttest.NewWorld(t, provider(t), 2)
	far := make([]byte, size)
	region, err := w.Endpoints[1].Register(0, 0, far)
	if err != nil {
		t.Fatal(err)
	}
	e := w.Endpoints[0].(*endpoint)
	own := make([]byte, size)
	if _, err := e.Register(0, 0, own); err != nil {
		t.Fatal(err)
	}
	dialled, err := e.Dial(t.Context(), 1, w.Endpoints[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	c := dialled.(*conn)
	flush(t, e, c) // the region is known, and nothing under way
	heap := bytes.Repeat([]byte{7}, size)

	if err := c.Put(region.Remote(), heap[:8], 0); err != nil {
		t.Fatal(err)
	}
	flush(t, e, c)
	e.harvesting.Lock()
	before := c.o.tail
	err = c.Put(region.Remote(), heap, 0)
	begun := c.o.tail - before
	e.harvesting.Unlock()
	if err != nil || begun != size/largeBytes {
		t.Errorf("%d requests have begun, want %d; %v", begun, size/largeBytes, err)
	}
	flush(t, e, c)
	if !bytes.Equal(far, heap) {
		t.Error("the target holds something else")
	}

	before = c.o.tail
	if err := c.Put(region.Remote(), own, 0); err != nil {
		t.Error(err)
	}
	if begun := c.o.tail - before; begun != 1 {
		t.Errorf("a Put of registered memory is %d requests", begun)
	}
	before = c.o.tail
	if err := c.Get(own, region.Remote(), 0); err != nil {
		t.Error(err)
	}
	if begun := c.o.tail - before; begun != 1 {
		t.Errorf("a Get to registered memory is %d requests", begun)
	}
	flush(t, e, c)
}

// flush returns when everything on c has ended.
func flush(t *testing.T, e *endpoint, c *conn) {
	t.Helper()
	if err := c.Flush(1); err != nil {
		t.Fatal(err)
	}
	var done [1]transport.Completion
	for done[0].Op != 1 {
		if _, err := e.Poll(done[:]); err != nil || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}
