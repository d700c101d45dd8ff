package collectives

import (
	"context"

	"github.com/golaunch/golaunch/runtime/pipe"
)

// writer is the pipe to a peer. It is made on first use.
func (e *engine) writer(peer int) (*pipe.Writer, error) {
	if w := e.writers[peer]; w != nil {
		return w, nil
	}
	w, err := e.inside.Writer(peer)
	e.writers[peer] = w
	return w, err
}

// reader is the pipe from a peer, nil while that one has not made it.
func (e *engine) reader(peer int) (*pipe.Reader, error) {
	if r := e.readers[peer]; r != nil {
		return r, nil
	}
	r, err := e.inside.Reader(peer)
	e.readers[peer] = r
	return r, err
}

// await waits until some lane can make progress.
func (r *run) await(ctx context.Context) error {
	if err := r.group.Until(ctx, (*progress)(r)); err != nil {
		return err
	}
	return r.err
}

// progress is the condition that some lane can make progress. An error in
// finding out is progress too: it ends the run.
type progress run

func (p *progress) Ready() bool {
	r := (*run)(p)
	for i := range r.recvs {
		if r.arrived(&r.recvs[i]) {
			return true
		}
	}
	for i := range r.sends {
		if r.hasRoom(&r.sends[i]) {
			return true
		}
	}
	return r.err != nil
}

func (r *run) arrived(l *lane) bool {
	step, rest := r.next(l)
	if step == nil {
		return false
	}
	in, err := r.reader(l.peer)
	if err != nil {
		r.err = err
	}
	if in == nil {
		return false
	}
	need := r.need(l, rest)
	return len(in.Peek(need)) >= need
}

func (r *run) hasRoom(l *lane) bool {
	step, rest := r.next(l)
	if step == nil {
		return false
	}
	need := r.need(l, rest)
	w := r.writers[l.peer]
	return w != nil && len(w.Room(need)) >= need
}

// Err asks about the peers that this rank waits for. A lane whose next step must
// wait for another does not count: its peer may have done its part and left, and
// what it sent lies in the pipe. Whoever does wait for a peer that died says so
// to all.
func (p *progress) Err() error {
	r := (*run)(p)
	if err := r.awaited(r.recvs); err != nil {
		return err
	}
	if err := r.awaited(r.sends); err != nil {
		return err
	}
	return r.group.Broken()
}

func (r *run) awaited(lanes []lane) error {
	for i := range lanes {
		if step, _ := r.next(&lanes[i]); step == nil {
			continue
		}
		if err := r.group.Err(lanes[i].peer); err != nil {
			return err
		}
	}
	return nil
}
