package collectives

import "context"

// outlet is the way to a peer. A pipe is made on first use; links are there since
// connect.
func (e *engine) outlet(peer int) (outlet, error) {
	if o := e.outlets[peer]; o != nil {
		return o, nil
	}
	w, err := e.inside.Writer(peer)
	if err != nil {
		return nil, err
	}
	e.outlets[peer] = pipeOutlet{w}
	return e.outlets[peer], nil
}

// inlet is the way from a peer, nil while that one has not made its pipe.
func (e *engine) inlet(peer int) (inlet, error) {
	if i := e.inlets[peer]; i != nil {
		return i, nil
	}
	r, err := e.inside.Reader(peer)
	if r == nil || err != nil {
		return nil, err
	}
	e.inlets[peer] = pipeInlet{r}
	return e.inlets[peer], nil
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
	in, err := r.inlet(l.peer)
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
	o := r.outlets[l.peer]
	return o != nil && o.Free(need) >= need
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
		if err := r.failure(lanes[i].peer); err != nil {
			return err
		}
	}
	return nil
}

// failure is why nothing can be expected of a peer any more. What a rank of another
// host has sent may still be under way when it has left.
func (e *engine) failure(peer int) error {
	if e.hosts == "" || e.inside.Local(peer) {
		return e.group.Err(peer)
	}
	err := e.inside.Over(peer)
	if broken := e.group.Broken(); broken != nil && err != nil {
		return broken // the peer may have left because of that
	}
	return err
}
