package messages

import (
	"context"
	"errors"

	"github.com/golaunch/golaunch/runtime/job"
	"github.com/golaunch/golaunch/runtime/rendezvous"
	"github.com/golaunch/golaunch/runtime/waiting"
)

// finish attends to r until it is over. When ctx ends it gives r up, and then
// waits for what cannot be stopped at once.
func (m *Messages) finish(ctx context.Context, r *Request) (Status, error) {
	for !r.over.Load() {
		if r.hasWork() {
			m.step(ctx, r)
			continue
		}
		if err := m.await(ctx, r); err != nil && !r.stir() {
			ctx = context.Background()
			m.giveUp(r, err)
		}
	}
	waiting.Synchronize()
	s, err := r.status, r.err
	if r.again {
		m.release(r)
	}
	return s, err
}

// step does what can be done for r now.
func (m *Messages) step(ctx context.Context, r *Request) {
	r.todo.Store(false) // before looking: what comes later sets it again
	m.mu.Lock()
	incoming := r.incoming
	m.mu.Unlock()
	switch {
	case r.send:
		m.stepSend(ctx, r)
	case incoming != nil:
		r.from = incoming.from
		m.stepReceive(ctx, r, incoming)
	}
}

func (m *Messages) stepSend(ctx context.Context, r *Request) {
	if r.word != nil && m.copyOut(r) {
		return
	}
	m.push(ctx, r)
}

func (m *Messages) stepReceive(ctx context.Context, r *Request, a *arrival) {
	if a.ready.Staged {
		m.takeStaged(r, a)
		return
	}
	if r.word == nil && r.pull.parts == 0 {
		if a.ready.Word.Len > 0 && m.openCopy(r, a) {
			return
		}
		m.startPull(ctx, r, a)
		return
	}
	if r.word != nil {
		m.copyIn(r, a)
		return
	}
	m.stepPull(ctx, r, a)
}

// giveUp begins the end of r: because its ctx has ended, or since its peer failed.
func (m *Messages) giveUp(r *Request, err error) {
	if r.givenUp == nil {
		r.givenUp = err
	}
	var failed *job.RankFailedError
	dead := errors.As(err, &failed)
	m.mu.Lock()
	switch {
	case r.over.Load():
		m.mu.Unlock()
	case r.ticket != 0:
		r.box.matcher.Cancel(r.ticket)
		r.end(Status{}, err)
		m.mu.Unlock()
	case dead:
		m.mu.Unlock()
		m.leave(r)
		m.endWith(r, Status{}, err)
	default:
		m.mu.Unlock()
		m.stopTransfer(r, err)
	}
}

// endWith ends r from outside a handler.
func (m *Messages) endWith(r *Request, s Status, err error) {
	m.mu.Lock()
	r.end(s, err)
	m.mu.Unlock()
}

// leave gives up what r holds of a rendezvous that nobody takes part in any more.
func (m *Messages) leave(r *Request) {
	if r.send {
		m.recall(r)
		return
	}
	r.copy.memory.Withdraw()
	if a := r.incoming; a != nil { // it is this goroutine's
		m.leaveBeginning(a)
	}
	m.endPull(r)
	r.word, r.staged = nil, stagedJob{}
}

// stopTransfer asks the other side to stop. r ends when that is sure.
func (m *Messages) stopTransfer(r *Request, err error) {
	switch {
	case r.word != nil && r.send:
		m.answer(r.world, rendezvous.WithdrawPacket{ID: r.idNow()}.Append(nil))
		r.word.change(rendezvous.State.Withdraw)
		r.todo.Store(true)
	case r.word != nil:
		r.word.change(rendezvous.State.Abandon)
		r.todo.Store(true)
	case r.send:
		m.answer(r.world, rendezvous.WithdrawPacket{ID: r.idNow()}.Append(nil))
		m.endSend(r, err)
	case r.staged.stage != nil:
		r.todo.Store(true)
	default:
		m.stopPull(r)
	}
}

func (r *Request) idNow() uint64 {
	r.box.m.mu.Lock()
	defer r.box.m.mu.Unlock()
	return r.id
}

// cause is why r ended as it did: what this rank wanted, or what the other did.
func (r *Request) cause(o rendezvous.Outcome) error {
	if o != rendezvous.Complete && r.givenUp != nil {
		return r.givenUp
	}
	return outcomeError(o)
}
