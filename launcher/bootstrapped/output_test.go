package bootstrapped

import (
	"strings"
	"sync"
	"time"
)

// An output is what a job has written so far.
type output struct {
	news chan struct{} // has an element when there is more

	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.news <- struct{}{}:
	default:
	}
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits until a job has written a text n times on its stdout.
func (r *running) await(n int, text string) {
	r.t.Helper()
	late := time.After(deadline)
	for strings.Count(r.stdout.String(), text) < n {
		select {
		case <-r.stdout.news:
		case err := <-r.done:
			r.done <- err
			r.t.Fatalf("it ended without %q: %v\n%s%s", text, err, r.stdout.String(), r.stderr.String())
		case <-late:
			r.t.Fatalf("no %q in %s%s", text, r.stdout.String(), r.stderr.String())
		}
	}
}
