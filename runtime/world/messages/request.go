package messages

import (
	"context"
	"sync/atomic"

	"github.com/golaunch/golaunch/runtime/matching"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// Wild sources and tags.
const (
	AnySource = matching.AnySource
	AnyTag    = matching.AnyTag
)

// Status says what was received.
type Status struct {
	Source, Tag int
	Bytes       int64 // that were stored
}

// A Request is a Send or Recv that has begun and may not have ended. One goroutine
// at most attends to it: it does what is to do and does not stop before the
// request is over.
type Request struct {
	box   *Box
	send  bool
	peer  int // member, or AnySource
	world int // its rank; -1 for AnySource
	tag   int
	data  []byte
	again bool // goes back to spare when its call returns
	long  bool // it has had an id
	quick bool // it ended while its goroutine held it

	over   atomic.Bool // stored last, after status and err
	status Status
	err    error

	todo atomic.Bool // there may be something to do

	// Guarded by Messages.mu.
	ticket   matching.Ticket // a receive that is posted
	id       uint64          // in requests; 0: not there
	attended bool
	orphan   bool                    // nobody's: see disown
	stop     context.CancelCauseFunc // ends the goroutine that was started to attend
	ended    chan struct{}           // closed at the end, if somebody waits so
	seat     seat
	incoming *arrival                 // a receive: the announced message it matched
	clears   []rendezvous.ClearPacket // a send: parts to Put
	answers  int                      // Dones of the peer that were not looked at
	verdict  rendezvous.Outcome       // of one that was not Complete

	// Of the goroutine that attends.
	from    int   // rank whose announced message a receive fetches; -1: none
	givenUp error // why; nil: it goes on
	word    *word // between ranks that share memory
	copy    copyJob
	pull    pullJob
	staged  stagedJob
}

// requests gives ids to those that peers answer to.
type requests struct {
	all   []*Request // by index
	count int
	uses  []uint32 // of each index, to tell old ids
	free  []int32
}

// add gives r an id. Called with mu held.
func (q *requests) add(r *Request) {
	var i int32
	if last := len(q.free) - 1; last >= 0 {
		i, q.free = q.free[last], q.free[:last]
	} else {
		i = int32(len(q.all))
		q.all, q.uses = append(q.all, nil), append(q.uses, 0)
	}
	q.all[i] = r
	q.count++
	q.uses[i]++
	r.long = true
	r.id = uint64(q.uses[i])<<32 | uint64(i+1)
}

// find returns the request with an id that a peer sent; nil: it has ended.
func (q *requests) find(id uint64) *Request {
	i := uint64(uint32(id)) - 1
	if i >= uint64(len(q.all)) || q.uses[i] != uint32(id>>32) {
		return nil
	}
	return q.all[i]
}

// hand gives r's id to another request.
func (q *requests) hand(r, other *Request) {
	q.all[int32(uint32(r.id))-1] = other
	other.id, r.id = r.id, 0
}

// remove takes r's id back.
func (q *requests) remove(r *Request) {
	if r.id == 0 {
		return
	}
	i := int32(uint32(r.id)) - 1
	q.all[i] = nil
	q.count--
	q.free = append(q.free, i)
	r.id = 0
}

// end ends r. Called with mu held, once; r is not touched afterwards.
func (r *Request) end(s Status, err error) {
	m := r.box.m
	m.requests.remove(r)
	r.status = s
	if err != nil {
		r.err = r.errorf(err)
	}
	turn, ended := m.seats.leave(r), r.ended
	waiting.Published()
	r.over.Store(true) // whoever waits for it may use r again from here on
	if turn != nil {
		turn <- struct{}{}
	}
	if ended != nil {
		close(ended)
	}
	if m.closed != nil && m.requests.count == 0 {
		m.quiet.Do(func() { close(m.empty) })
	}
}

// Test reports whether r has ended. It makes progress meanwhile and does not wait.
func (r *Request) Test() (Status, bool, error) {
	if !r.over.Load() {
		r.box.m.cfg.Router.Poll()
	}
	if !r.over.Load() {
		return Status{}, false, nil
	}
	waiting.Synchronize()
	return r.status, true, r.err
}

// Wait returns when r has ended. If ctx ends before, r is given up: a receive that
// has not matched is withdrawn, and a message that is on its way is finished or
// stopped first. Its buffer is the caller's again when Wait returns.
func (r *Request) Wait(ctx context.Context) (Status, error) {
	m := r.box.m
	m.mu.Lock()
	if !r.attended {
		r.attended = true
		m.mu.Unlock()
		return m.finish(ctx, r)
	}
	if r.ended == nil && !r.over.Load() {
		r.ended = make(chan struct{})
	}
	ended, stop := r.ended, r.stop
	m.mu.Unlock()
	if ended != nil {
		if err := r.outlast(ctx, ended, stop); err != nil {
			return Status{}, err
		}
	}
	waiting.Synchronize()
	return r.status, r.err
}

// outlast waits for another goroutine that attends to r. One that belongs to
// another call of Wait is not stopped.
func (r *Request) outlast(ctx context.Context, ended chan struct{}, stop context.CancelCauseFunc) error {
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	if stop == nil {
		return r.errorf(context.Cause(ctx))
	}
	stop(context.Cause(ctx))
	<-ended
	return nil
}

// begin takes a request for a call that ends it itself.
func (m *Messages) begin() *Request {
	r := m.spare.Get().(*Request)
	r.again = true
	return r
}

// release gives a request back that its call has ended.
func (m *Messages) release(r *Request) {
	turn := r.seat.turn
	*r = Request{}
	r.seat.turn = turn
	m.spare.Put(r)
}
