package messages

import (
	"context"
	"slices"

	"github.com/golaunch/golaunch/runtime/relax"
	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// A message of middle length between ranks of one host passes through a stage: the
// sender copies it there piece by piece, and the receiver from there to its buffer,
// behind it. Two copies at once take less than one by a system call, and the sender
// needs not wait for the receiver.
//
// A stage belongs to the sender until it announces a message, then to both until the
// receiver stores taken. The sender returns when it has filled the stage: it gives
// nothing up meanwhile, as nothing is waited for. A receiver that gives up lets go.

const (
	// stageBytes is the longest message that passes through one, and stageCount how many
	// a rank has: a message for which there is none waits for its receiver. 1 MiB takes
	// 46 us, and 84 if both sides copy half of it by system calls, which look each page up;
	// 16 MiB, which are in no cache, 2.4 ms and 2.0.
	stageBytes = 1 << 20
	stageCount = 4

	// stagePiece is what the sender copies before it says so. 64 KiB take 3.5 us by pieces
	// of 8 or 16 KiB, 3.9 by 4 KiB and 4.8 by 2 KiB.
	stagePiece = 8 << 10

	// stageTurn is the longest message for which stages take turns. What the receiver has
	// in its first cache of the last message is slow to overwrite: 64 KiB take 7.7 us in
	// turn and 9.7 in the same stage. All stages of this size fit in a second cache.
	stageTurn = 256 << 10

	// stageLooks is how often a receiver that has a core looks for the next piece, which
	// takes a fraction of a microsecond, before it waits as for everything else.
	stageLooks = 1000
)

// stages are this rank's, for the messages it sends. Guarded by Messages.mu.
type stages struct {
	m     *Messages
	free  []*stage
	lent  []*stage // announced, and not known to be let go of
	key   uint64   // of the segment they are all in
	known []bool   // by rank: it has mapped that
	uses  uint64
}

func (s *stages) add(st *stage) { s.free, s.key = append(s.free, st), st.place.Key }

// learn notes that a rank has mapped the stages, if it has used a word that was made
// together with them.
func (s *stages) learn(rank int, w *word) {
	if !w.load().Released() || w.place.Key != s.key {
		return
	}
	if s.known == nil {
		s.known = make([]bool, s.m.cfg.Size)
	}
	s.known[rank] = true
}

// take returns the stage for a message to a rank: in turn, or the one that was used last,
// whose memory is in a cache. nil: there is none.
func (s *stages) take(rank, bytes int) *stage {
	if s.known == nil || !s.known[rank] {
		return nil
	}
	s.collect()
	if len(s.free) == 0 {
		return nil
	}
	at := len(s.free) - 1
	if bytes <= stageTurn {
		at = 0
	}
	st := s.free[at]
	s.free = slices.Delete(s.free, at, at+1)
	s.lent = append(s.lent, st)
	s.uses++
	st.to, st.id = rank, stageID|s.uses
	st.filled.Store(0)
	st.taken.Store(0)
	return st
}

// stageID marks the ids of messages in stages. Requests have none so large.
const stageID = 1 << 63

// collect finds the stages that receivers have let go of, or that died.
func (s *stages) collect() {
	kept := s.lent[:0]
	for _, st := range s.lent {
		if st.taken.Load() != 0 || s.m.cfg.Failure(st.to) != nil {
			s.free = append(s.free, st)
		} else {
			kept = append(kept, st)
		}
	}
	s.lent = kept
}

// refused takes back the stage of a message that nobody will look at.
func (s *stages) refused(from int, id uint64) {
	for _, st := range s.lent {
		if st.id == id && st.to == from {
			st.taken.Store(1)
		}
	}
}

// stage sends a message through a stage, if there is one for it.
func (b *Box) stage(ctx context.Context, member, tag int, data []byte) (sent bool, err error) {
	m, to := b.m, b.ranks[member]
	if len(data) > stageBytes || !m.cfg.Local(to) {
		return false, nil
	}
	if _, mapped := m.cfg.Memory.Locate(data); mapped { // the receiver copies it from where it is
		return false, nil
	}
	m.mu.Lock()
	if m.closed != nil {
		m.mu.Unlock()
		return false, nil
	}
	st := m.stages.take(to, len(data))
	m.mu.Unlock()
	if st == nil {
		return false, nil
	}
	return true, b.sendStaged(ctx, st, tag, data)
}

// sendStaged fills st. A receiver that would have to wait for a core to see the next
// piece is told when all is there.
func (b *Box) sendStaged(ctx context.Context, st *stage, tag int, data []byte) error {
	m, filled := b.m, stagePiece
	if !m.cfg.Spins {
		filled = len(data)
	}
	st.fill(data, 0, filled)
	p := rendezvous.ReadyPacket{Context: b.context, Tag: int32(tag), ID: st.id, Length: int64(len(data)), Word: st.place, Staged: true}
	if err := m.tell(ctx, st.to, p.Append); err != nil {
		st.taken.Store(1)
		return err
	}
	for ; filled < len(data); filled += stagePiece {
		st.fill(data, filled, filled+stagePiece)
	}
	m.cfg.Ring(st.to)
	return nil
}

// fill copies data from one byte to another, or its end.
func (st *stage) fill(data []byte, from, to int) {
	to = min(to, len(data))
	copy(st.bytes[from:to], data[from:to])
	st.filled.Store(uint64(to))
}

// A stagedJob is the receiver's part.
type stagedJob struct {
	stage  *stage
	bytes  int // wanted
	copied int
}

func (j *stagedJob) stirs() bool { return j.stage != nil && j.stage.filled.Load() > uint64(j.copied) }

// takeStaged is a receiver's step.
func (m *Messages) takeStaged(r *Request, a *arrival) {
	j := &r.staged
	if j.stage == nil && !m.openStage(r, a) {
		return
	}
	if r.givenUp == nil && !j.copy(r.data) {
		return
	}
	o := rendezvous.Complete
	if r.givenUp != nil {
		o = rendezvous.Abandoned
	}
	j.stage.taken.Store(1)
	*j = stagedJob{}
	m.received(r, a, o)
}

// openStage finds the stage. false: r is over.
func (m *Messages) openStage(r *Request, a *arrival) bool {
	mem, err := m.cfg.Memory.At(a.from, a.ready.Word)
	if err == nil && (int64(len(mem)) < stageHead+a.ready.Length || !aligned(mem)) {
		err = errNotShared
	}
	if err != nil {
		r.givenUp = err
		m.answer(a.from, rendezvous.DonePacket{ID: a.ready.ID, Outcome: rendezvous.Abandoned}.Append(nil))
		m.received(r, a, rendezvous.Abandoned)
		return false
	}
	r.staged = stagedJob{stage: stageOver(mem, a.ready.Word), bytes: min(len(r.data), int(a.ready.Length))}
	return true
}

// copy copies what is there, and what comes meanwhile. true: that was all.
func (j *stagedJob) copy(dst []byte) bool {
	for range stageLooks {
		filled := max(j.copied, int(min(j.stage.filled.Load(), uint64(j.bytes))))
		copy(dst[j.copied:filled], j.stage.bytes[j.copied:filled])
		if j.copied = filled; filled == j.bytes {
			return true
		}
		relax.CPU()
	}
	return false
}
