package lock

import "slices"

// The model: every member runs the fast paths and the Machine against words of
// plain memory, one access at a time, in every order. A model value is a complete
// state and comparable.

const maxMembers = 3

type activity uint8

const (
	idle activity = iota
	inMachine
	holding
	finished
	dead
)

// nap is how far a member is in Await: what job.Memory's doorbell does.
type nap uint8

const (
	upright  nap = iota
	sleeping     // found nothing to do: only a ring wakes it
)

type member struct {
	doing     activity
	mode      Mode
	m         Machine
	nap       nap
	rung      bool
	requests  int8             // how often it may still acquire the lock; negative: without limit
	cancels   int8             // how often it may still be cancelled
	announced [maxMembers]bool // requests it must adopt: announced before it froze the state
	passed    [maxMembers]int8 // how often each other was given the lock while this one's request was queued
}

// A fault is a mistake that the properties must find.
type fault uint8

const (
	none            fault = iota
	silentRing            // nobody is woken
	lostContended         // a settled state forgets that somebody is left in the queue
	latchOnly             // a member waits until the latch is free, whether or not it is marked as awaited
	blindRelease          // a release does not look whether somebody waits
	unorderedReader       // readers pass waiting writers
	faults
)

type model struct {
	n                    int
	fault                fault
	fixed                [maxMembers]Mode // what member i asks for; 0: either
	state, latch, ticket uint64
	slot                 [maxMembers]uint64
	members              [maxMembers]member
	crashes              int8 // how many members may still die
}

func newModel(n int, requests, cancels, crashes int8) model {
	w := model{n: n, crashes: crashes}
	for i := range n {
		w.members[i].requests, w.members[i].cancels = requests, cancels
	}
	return w
}

// successors appends every state that is one access, cancellation or death away.
// The first own of them need neither cancellation nor death.
func (w model) successors(to []model) (all []model, own int) {
	for i := range w.n {
		to = w.steps(to, i)
	}
	own = len(to)
	for i := range w.n {
		to = w.cancel(to, i)
		if w.crashes > 0 && w.members[i].doing != dead && w.members[i].doing != finished {
			next := w
			next.crashes--
			next.members[i].doing = dead
			next.ringEverybody() // the supervisor's report
			to = append(to, next)
		}
	}
	return to, own
}

// cancel ends member i's context: whether it sleeps or not, it stops waiting.
func (w model) cancel(to []model, i int) []model {
	me := &w.members[i]
	if me.cancels == 0 || me.doing != inMachine || me.m.purpose != Request || me.m.Next().Do != Await {
		return to
	}
	me.cancels--
	me.nap = upright
	w.feed(i, Cancelled)
	return append(to, w)
}

func (w *model) ringEverybody() {
	for j := range w.n {
		w.members[j].rung = true
	}
}

func (w model) steps(to []model, i int) []model {
	switch me := &w.members[i]; me.doing {
	case idle:
		retired := w
		retired.members[i].doing = finished
		to = append(to, retired)
		if me.requests == 0 {
			return to
		}
		if me.requests > 0 {
			me.requests--
		}
		for _, mode := range []Mode{Shared, Exclusive} {
			if w.fixed[i] == 0 || w.fixed[i] == mode {
				to = append(to, w.tryAcquire(i, mode))
			}
		}
		return to
	case holding:
		return append(to, w.tryRelease(i))
	case inMachine:
		return w.machineSteps(to, i)
	}
	return to
}

// tryAcquire and tryRelease are Lock.TryAcquire and Lock.TryRelease: one successful or
// failing compare-and-swap each.
func (w model) tryAcquire(i int, mode Mode) model {
	me := &w.members[i]
	me.mode = mode
	switch {
	case mode == Exclusive && w.state == 0:
		w.state = owner(i)
		w.overtake(i, 0)
		w.acquired(i)
	case mode == Shared && w.state&exclusive == 0 && (w.state&contended == 0 || w.fault == unorderedReader):
		w.state++
		w.overtake(i, 0)
		w.acquired(i)
	default:
		me.doing = inMachine
		me.m.Start(i, w.n, Request, mode)
	}
	return w
}

func (w model) tryRelease(i int) model {
	me := &w.members[i]
	switch {
	case w.fault == blindRelease && me.mode == Exclusive:
		w.state &= contended
		w.released(i)
	case me.mode == Exclusive && w.state == owner(i):
		w.state = 0
		w.released(i)
	case me.mode == Shared && w.state&contended == 0:
		w.state--
		w.released(i)
	default:
		me.doing = inMachine
		me.m.Start(i, w.n, Release, me.mode)
	}
	return w
}

func (w *model) acquired(i int) {
	w.members[i].doing = holding
	w.members[i].m = Machine{}
}

// overtake counts that member i was given the lock, unless the waiting member gets
// it together with i: it is a reader with a ticket before batch.
func (w *model) overtake(i int, batch uint64) {
	for j := range w.n {
		together := modeOf(w.slot[j]) == Shared && ticketOf(w.slot[j]) < batch
		if j != i && phaseOf(w.slot[j]) == queued && !together {
			w.members[j].passed[i]++
		}
	}
	w.members[i].passed = [maxMembers]int8{}
}

func (w *model) released(i int) {
	w.members[i].doing = idle
	w.members[i].m = Machine{}
	w.members[i].mode = 0
	w.members[i].passed = [maxMembers]int8{}
}

func (w model) machineSteps(to []model, i int) []model {
	op := w.members[i].m.Next()
	if op.Do == Await {
		return w.await(to, i, op)
	}
	w.watch(i, op)
	w.feed(i, w.access(op))
	return append(to, w)
}

func (w *model) feed(i int, result uint64) {
	me := &w.members[i]
	me.m.Feed(result)
	if me.m.Next().Do == Stop {
		switch me.m.Outcome() {
		case Acquired:
			w.acquired(i)
		case Released, Withdrawn:
			w.released(i)
		case Poisoned:
			me.doing = finished
			me.m = Machine{}
		}
		return
	}
	tidy(&me.m)
}

func (w *model) access(op Op) uint64 {
	switch {
	case w.fault == lostContended && op.Do == Store && op.Word == State:
		op.A &^= contended
	case op.Do == Ring && w.fault == silentRing:
		return 0
	case op.Do == Ring:
		w.members[op.Index].rung = true
		return 0
	}
	p := w.word(op)
	old := *p
	switch op.Do {
	case Store, Swap:
		*p = op.A
	case Add:
		*p += op.A
	case Or:
		*p |= op.A
	case Compare:
		if old != op.A {
			return 0
		}
		*p = op.B
		return 1
	}
	return old
}

func (w *model) word(op Op) *uint64 {
	switch op.Word {
	case State:
		return &w.state
	case Latch:
		return &w.latch
	case Ticket:
		return &w.ticket
	}
	return &w.slot[op.Index]
}

// await is waiting.Waiter.Until over job.Memory's doorbell: announce that this member
// sleeps, look, and sleep until it is rung. Announcing and looking are one access
// here: a ring between the two is as good as one before them.
func (w model) await(to []model, i int, op Op) []model {
	me := &w.members[i]
	if me.nap == sleeping {
		if !me.rung {
			return to
		}
		me.nap = upright
		return append(to, w)
	}
	me.rung = false
	if result, over := w.awaited(i, op); over {
		w.feed(i, result)
	} else {
		me.nap = sleeping
	}
	return append(to, w)
}

// awaited is the Condition of a Lock.
func (w *model) awaited(i int, op Op) (result uint64, over bool) {
	own := phaseOf(w.slot[i])
	if op.Word == Slot {
		return grantResult(own, w.anyDead())
	}
	holder := latchHolder(w.latch)
	switch {
	case w.latch == 0, w.latch&awaited == 0 && w.fault != latchOnly, w.members[i].m.purpose == Request && own != announced:
		return Woken, true
	case w.members[holder].doing == dead:
		return Lost, true
	}
	return 0, false
}

func grantResult(own phase, failed bool) (uint64, bool) {
	switch {
	case own == granted:
		return Woken, true
	case failed:
		return Cancelled, true
	}
	return 0, false
}

func (w *model) anyDead() bool {
	return slices.ContainsFunc(w.members[:w.n], func(m member) bool { return m.doing == dead })
}

// watch remembers which requests a holder of the latch must queue, and who is
// granted the lock.
func (w *model) watch(i int, op Op) {
	me := &w.members[i]
	switch me.m.at {
	case grantReader:
		w.overtake(op.Index, me.m.first)
	case grantWriter:
		w.overtake(op.Index, 0)
	case freeze:
		for j := range w.n {
			me.announced[j] = phaseOf(w.slot[j]) == announced
		}
	case adopt:
		me.announced[op.Index] = false
	case dropLatch:
		me.announced = [maxMembers]bool{}
	}
}
