package collectives

import (
	"context"

	"github.com/golaunch/golaunch/collectives/reduce"
	"github.com/golaunch/golaunch/collectives/schedule"
	"github.com/golaunch/golaunch/runtime/pipe"
)

// How much of a stream moves before the others have their turn and the peer learns
// of it, in bytes.
const (
	pipePiece = 16 << 10
	linkPiece = 512 << 10
)

// A run is a program being carried out. All streams whose next step waits for no
// other make progress in turn, piece by piece.
//
// Invariant: a step is complete when waits of all that follow it have been
// decreased, its stream has left it behind, and unfinished does not count it.
type run struct {
	*engine
	*program
	data
	waits      []int32 // by step: for how many it still waits; shadows the program's
	sends      []lane
	recvs      []lane
	unfinished int
	piece      int   // pipePiece or linkPiece
	err        error // found by Ready
}

// A lane is a stream being worked off. A message is followed in its pipe by
// padding, so that elements in it are aligned and in one piece.
type lane struct {
	peer  int
	steps []int32 // those not complete
	moved int     // bytes of the first one that have passed, padding not counted
}

// carryOut carries out a plan on the data.
func (e *engine) carryOut(ctx context.Context, plan schedule.Plan, d data) error {
	if err := e.connect(ctx); err != nil {
		return err
	}
	p, err := e.program(plan)
	if err != nil {
		return err
	}
	r := &e.run
	r.start(e, p, d)
	for r.unfinished > 0 {
		moved, err := r.advance()
		if err == nil && !moved {
			err = r.await(ctx)
		}
		if err != nil {
			return err
		}
	}
	r.data = data{} // hold on to no buffers
	return nil
}

func (r *run) start(e *engine, p *program, d data) {
	r.engine, r.program, r.data, r.err = e, p, d, nil
	r.unfinished, r.piece = len(p.steps), pipePiece
	if e.hosts != "" {
		r.piece = linkPiece
	}
	r.waits = append(r.waits[:0], p.waits...)
	r.sends, r.recvs = lanes(r.sends, p.sends), lanes(r.recvs, p.recvs)
	r.data.temp = e.scratchOf(p.temp * d.width)
	for _, i := range p.local {
		r.perform(i)
	}
}

func lanes(dst []lane, streams []stream) []lane {
	dst = dst[:0]
	for _, s := range streams {
		dst = append(dst, lane{peer: s.peer, steps: s.steps})
	}
	return dst
}

// advance gives every lane its turn.
func (r *run) advance() (moved bool, err error) {
	for i := range r.recvs {
		m, err := r.pull(&r.recvs[i])
		if err != nil {
			return false, err
		}
		moved = moved || m
	}
	for i := range r.sends {
		m, err := r.push(&r.sends[i])
		if err != nil {
			return false, err
		}
		moved = moved || m
	}
	return moved, nil
}

// next is the step whose turn it is in a lane, if it need not wait.
func (r *run) next(l *lane) (step *schedule.Step, rest int) {
	if len(l.steps) == 0 || r.waits[l.steps[0]] > 0 {
		return nil, 0
	}
	step = &r.steps[l.steps[0]]
	return step, step.Len*r.width - l.moved
}

// need is how many bytes must be free, or there, for a lane to make progress when
// that many of its message are left: an element, or the padding.
func (r *run) need(l *lane, rest int) int {
	if rest > 0 {
		return r.width
	}
	return -l.moved & (pipe.Align - 1)
}

// push sends a piece.
func (r *run) push(l *lane) (moved bool, err error) {
	step, rest := r.next(l)
	if step == nil {
		return false, nil
	}
	o, err := r.outlet(l.peer)
	if err != nil {
		return false, err
	}
	if rest > 0 {
		n := min(rest, r.piece)
		n = min(n, o.Free(n)) / r.width * r.width
		if n == 0 {
			return false, nil
		}
		if err := o.Write(r.at(step.From, l.moved, n)); err != nil {
			return false, err
		}
		l.moved += n
		rest -= n
		moved = true
	}
	return r.moved(l, moved, rest, o)
}

// pull receives a piece.
func (r *run) pull(l *lane) (moved bool, err error) {
	step, rest := r.next(l)
	if step == nil {
		return false, nil
	}
	in, err := r.inlet(l.peer)
	if in == nil || err != nil {
		return false, err
	}
	if rest > 0 {
		n := min(rest, r.piece)
		got := in.Peek(n)
		n = min(n, len(got)) / r.width * r.width
		if n == 0 {
			return false, nil
		}
		r.receive(step, l.moved, got[:n])
		if err := in.Take(n); err != nil {
			return false, err
		}
		l.moved += n
		rest -= n
		moved = true
	}
	return r.moved(l, moved, rest, in)
}

// moved ends a turn of a lane, in which a piece was moved or not, and rest of its
// message is left: a message that is through is followed by padding.
func (r *run) moved(l *lane, moved bool, rest int, end padder) (bool, error) {
	if rest == 0 {
		padded, err := end.Pad()
		if err != nil {
			return false, err
		}
		if padded {
			r.pass(l)
			moved = true
		}
	}
	if moved {
		r.group.Ring(l.peer)
	}
	return moved, nil
}

// receive stores or combines what arrived.
func (r *run) receive(step *schedule.Step, moved int, got []byte) {
	into := r.at(step.Into, moved, len(got))
	if step.Kind == schedule.Recv {
		copy(into, got)
		return
	}
	left, right := r.at(step.From, moved, len(got)), got
	if step.Left {
		left, right = right, left
	}
	reduce.Into(r.kind, r.op, into, left, right)
}

// pass completes the lane's first step.
func (r *run) pass(l *lane) {
	done := l.steps[0]
	l.steps, l.moved = l.steps[1:], 0
	r.complete(done)
}

// complete releases the steps that waited for one, and performs those that need
// no peer.
func (r *run) complete(i int32) {
	r.unfinished--
	for _, f := range r.follow[i] {
		r.waits[f]--
		if r.waits[f] == 0 && r.steps[f].Kind >= schedule.Copy {
			r.perform(f)
		}
	}
}

// perform does a step that needs no peer.
func (r *run) perform(i int32) {
	s := &r.steps[i]
	n := s.Len * r.width
	into, from := r.at(s.Into, 0, n), r.at(s.From, 0, n)
	if s.Kind == schedule.Copy {
		copy(into, from)
	} else {
		reduce.Into(r.kind, r.op, into, from, r.at(s.With, 0, n))
	}
	r.complete(i)
}

// scratchOf is n bytes for partial results.
func (e *engine) scratchOf(n int) []byte {
	if len(e.scratch) < n {
		e.scratch = make([]byte, n)
	}
	return e.scratch[:n]
}
