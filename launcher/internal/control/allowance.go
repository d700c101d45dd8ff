package control

import "sync"

// An Allowance is how many bytes may still be sent in a stream. Its zero value
// allows none.
type Allowance struct {
	mu      sync.Mutex
	changed *sync.Cond
	bytes   int
	closed  bool
}

func (a *Allowance) lock() {
	a.mu.Lock()
	if a.changed == nil {
		a.changed = sync.NewCond(&a.mu)
	}
}

// Add allows n bytes more; n is negative for what was sent.
func (a *Allowance) Add(n int) {
	a.lock()
	defer a.mu.Unlock()
	a.bytes += n
	a.changed.Signal()
}

// Wait waits until something may be sent and returns how much; 0: the Allowance
// was closed. One goroutine at a time may wait.
func (a *Allowance) Wait() int {
	a.lock()
	defer a.mu.Unlock()
	for a.bytes <= 0 && !a.closed {
		a.changed.Wait()
	}
	if a.closed {
		return 0
	}
	return a.bytes
}

// Close says that nothing may be sent any more.
func (a *Allowance) Close() {
	a.lock()
	defer a.mu.Unlock()
	a.closed = true
	a.changed.Signal()
}
