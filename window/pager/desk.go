package pager

import (
	"fmt"
	"sync"

	"github.com/golaunch/golaunch/window/pager/line"
)

// A desk is where requests are made that go one way.
//
// Of the goroutines that wait for an answer one, the reader, waits in the kernel, and hands
// to the others what is theirs; they hold no thread. When it has its own answer, another
// one becomes the reader. So the answer to a lone request wakes one thread, and nobody
// else.
type desk struct {
	way  way
	most int // requests at a time; 0: any number

	sending sync.Mutex // before mu

	mu      sync.Mutex
	room    sync.Cond        // a request has been answered
	waiting map[uint32]*call // by request; nil: nobody waits for that answer
	told    int              // of those
	last    uint32
	reading bool  // there is a reader
	ended   error // why there are no answers any more
	spare   sync.Pool
}

// A call is a request that waits for its answer.
type call struct {
	answer answer
	done   bool
	// wake holds a token when done is true, or when the call is to become the reader.
	wake chan struct{}
}

type answer struct {
	body []byte
	fds  []int
	err  error
}

func newDesk(w way, most int) *desk {
	d := &desk{way: w, most: most, waiting: map[uint32]*call{}}
	d.room.L = &d.mu
	d.spare.New = func() any { return &call{wake: make(chan struct{}, 1)} }
	return d
}

// ask sends a request and waits for the answer.
func (d *desk) ask(f line.Frame, fds ...int) answer {
	me := d.spare.Get().(*call)
	if err := d.post(f, fds, me); err != nil {
		return answer{err: err}
	}
	return d.await(me)
}

// tell sends a request whose answer nobody needs. Somebody has to take it all the same. So at most half
// of the room is for such; who tells more than that waits for the answer, and takes the others' on the
// way. Who waits for room therefore does so beside a reader.
//
// Precondition: most > 0.
func (d *desk) tell(f line.Frame) error {
	d.mu.Lock()
	full := d.told >= d.most/2
	if !full {
		d.told++
	}
	d.mu.Unlock()
	if full {
		return d.ask(f).err
	}
	return d.post(f, nil, nil)
}

// post sends a request, for a call that waits or for nobody.
func (d *desk) post(f line.Frame, fds []int, me *call) error {
	d.sending.Lock()
	defer d.sending.Unlock()
	d.mu.Lock()
	for d.most > 0 && len(d.waiting) == d.most {
		d.room.Wait()
	}
	if d.ended != nil {
		d.mu.Unlock()
		return d.ended
	}
	d.last++
	f.ID = d.last
	d.waiting[f.ID] = me
	d.mu.Unlock()
	if err := d.way.send(f, fds); err != nil {
		d.end(fmt.Errorf("asking the pager: %w", err))
	}
	return nil
}

// await returns the answer to a call: it reads, unless somebody else does.
func (d *desk) await(me *call) answer {
	d.mu.Lock()
	for !me.done {
		if d.reading {
			d.mu.Unlock()
			<-me.wake
			d.mu.Lock()
			continue
		}
		d.reading = true
		d.mu.Unlock()
		f, fds, err := d.way.receive()
		d.mu.Lock()
		d.reading = false
		if err != nil {
			d.fail(fmt.Errorf("the line to the pager is closed: %w", err))
		} else {
			d.deliver(f, fds)
		}
	}
	if !d.reading {
		d.nextReader()
	}
	a := me.answer
	me.answer, me.done = answer{}, false
	d.mu.Unlock()
	select { // a token that came when it was not waited for
	case <-me.wake:
	default:
	}
	d.spare.Put(me)
	return a
}

// deliver ends the call that a frame answers. Called with mu held.
func (d *desk) deliver(f line.Frame, fds []int) {
	me, known := d.waiting[f.ID]
	if !known {
		return
	}
	delete(d.waiting, f.ID)
	d.room.Signal()
	if me == nil {
		d.told--
		return
	}
	a := answer{fds: fds}
	if f.Kind == line.Failed {
		a.err = fmt.Errorf("the pager: %s", f.Body)
	} else if len(f.Body) > 0 {
		a.body = append([]byte(nil), f.Body...)
	}
	me.end(a)
}

// end is called with desk.mu held. Its token is the only one, or a second one that is not
// needed.
func (m *call) end(a answer) {
	m.answer, m.done = a, true
	m.rouse()
}

func (m *call) rouse() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// nextReader has another call read. Called with mu held, by who has read.
func (d *desk) nextReader() {
	for _, other := range d.waiting {
		if other != nil {
			other.rouse()
			return
		}
	}
}

// end says that there will be no more answers, for a reason.
func (d *desk) end(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail(why)
}

// fail is end with mu held.
func (d *desk) fail(why error) {
	if d.ended == nil {
		d.ended = why
	}
	for id, m := range d.waiting {
		delete(d.waiting, id)
		if m != nil {
			m.end(answer{err: d.ended})
		}
	}
	d.room.Broadcast()
}
