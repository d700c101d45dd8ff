package bench

import (
	"time"

	"github.com/golaunch/golaunch/apps/internal/bench/figures"
)

// A Clock times batches of operations.
type Clock struct {
	perBatch int
	started  time.Time
	seconds  []float64 // of one operation, a batch each
}

// NewClock returns a clock for batches of perBatch operations each.
func NewClock(batches, perBatch int) *Clock {
	return &Clock{perBatch: perBatch, seconds: make([]float64, 0, batches)}
}

// Start begins a batch.
func (c *Clock) Start() { c.started = time.Now() }

// Stop ends the batch that Start began.
func (c *Clock) Stop() {
	c.seconds = append(c.seconds, time.Since(c.started).Seconds()/float64(c.perBatch))
}

// Microseconds is the time of one operation: the median over the batches.
func (c *Clock) Microseconds() float64 { return figures.Median(c.seconds) * 1e6 }
