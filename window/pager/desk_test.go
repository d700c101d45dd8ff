package pager

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A loop is a way whose other end answers each request with its First as the body, and those whose Mode is
// Write with an error, in pairs, the later one first.
type loop struct {
	requests chan line.Frame
	answers  chan line.Frame
	under    atomic.Int32 // way, and not answered
	most     int32
	reading  atomic.Bool
}

func newLoop(most int) *loop {
	l := &loop{requests: make(chan line.Frame, 1000), answers: make(chan line.Frame, 1000), most: int32(most)}
	go l.serve()
	return l
}

func (l *loop) send(f line.Frame, _ []int) error {
	if n := l.under.Add(1); l.most > 0 && n > l.most {
		return fmt.Errorf("%d requests at a time, want at most %d", n, l.most)
	}
	l.requests <- f
	return nil
}

func (l *loop) receive() (line.Frame, []int, error) {
	if l.reading.Swap(true) {
		return line.Frame{}, nil, errors.New("two goroutines read")
	}
	defer l.reading.Store(false)
	f, some := <-l.answers
	if !some {
		return f, nil, errors.New("closed")
	}
	l.under.Add(-1)
	return f, nil, nil
}

func (l *loop) serve() {
	defer close(l.answers)
	for f := range l.requests {
		pair := []line.Frame{f}
		select {
		case g, some := <-l.requests:
			if some {
				pair = []line.Frame{g, f}
			}
		default:
		}
		for _, f := range pair {
			a := line.Frame{Kind: line.Done, ID: f.ID, Body: fmt.Append(nil, f.First)}
			if f.Mode == line.Write {
				a.Kind = line.Failed
			}
			l.answers <- a
		}
	}
}

// Everybody gets his own answer, also if more ask than there is room for, and most tell.
func TestDesk(t *testing.T) {
	for _, most := range []int{2, 5, line.Places} {
		l := newLoop(most)
		d := newDesk(l, most)
		var wait sync.WaitGroup
		for g := range uint32(20) {
			wait.Go(func() {
				for n := range uint32(300) {
					f := line.Frame{Kind: line.Want, First: g<<16 | n, Mode: line.Mode(n % 2)}
					if n%3 > 0 {
						if err := d.tell(f); err != nil && f.Mode == line.Read {
							t.Errorf("most %d: %v", most, err)
						}
						continue
					}
					a := d.ask(f)
					want := fmt.Sprint(f.First)
					if f.Mode == line.Write && (a.err == nil || a.err.Error() != "the pager: "+want) || f.Mode == line.Read && (a.err != nil || string(a.body) != want) {
						t.Errorf("most %d: the answer to %s is %q, %v", most, want, a.body, a.err)
					}
				}
			})
		}
		wait.Wait()
		close(l.requests)
	}
}

// Who only tells is not kept waiting for ever by answers that nobody has taken.
func TestTellsOnly(t *testing.T) {
	l := newLoop(line.Places)
	d := newDesk(l, line.Places)
	for range 10 * line.Places {
		if err := d.tell(line.Frame{Kind: line.Want}); err != nil {
			t.Fatal(err)
		}
	}
	close(l.requests)
}

// When the line has ended, all who wait hear of it, and those who come later.
func TestDeskEnds(t *testing.T) {
	l := &loop{requests: make(chan line.Frame, 10), answers: make(chan line.Frame)}
	d := newDesk(l, 3)
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			if a := d.ask(line.Frame{Kind: line.Want}); a.err == nil {
				t.Errorf("answered with %q", a.body)
			}
		})
	}
	for range 3 {
		<-l.requests
	}
	close(l.answers)
	wait.Wait()
	if err := d.tell(line.Frame{Kind: line.Want}); err == nil {
		t.Error("told to nobody")
	}
}
