package lock

// A Purpose is why a member enters a slow path.
type Purpose uint8

const (
	// Request asks for the lock and waits until it is granted.
	Request Purpose = iota + 1
	// Release gives the lock up and hands it over.
	Release
	// withdraw takes a request back, or releases what was granted meanwhile.
	withdraw
	// hold only enters the latch.
	hold
)

// An Outcome is how a Machine ended.
type Outcome uint8

const (
	Acquired  Outcome = iota + 1 // the member holds the lock, or for hold the latch
	Released                     // the lock was given up
	Withdrawn                    // the member was told to stop waiting and has left the queue
	Poisoned                     // the latch's holder is gone: the lock can no longer be used
)

// Machine carries out one slow path, a shared-memory access at a time: Next says
// which access comes, Feed takes its result. It is a plain value that knows
// neither memory nor time.
type Machine struct {
	me, members int
	purpose     Purpose
	mode        Mode
	at          step
	outcome     Outcome

	ticket uint64 // of the request
	seen   uint64 // of the word that the next access changes
	i      int    // the slot, or the member, that comes next

	// What settling has found out, under the latch.
	held   uint64 // who holds the lock: state without contended, after the edit
	left   int    // requests in the queue that are not granted
	writer int    // the first writer in the queue
	first  uint64 // its ticket
	reader uint64 // the first reader's ticket
	grants int    // how many others were granted the lock
}

// Start makes m carry out a slow path for member me of members.
func (m *Machine) Start(me, members int, purpose Purpose, mode Mode) {
	*m = Machine{me: me, members: members, purpose: purpose, mode: mode, at: drawTicket}
	if purpose != Request {
		m.at = tryLatch
	}
}

// Next is the access that comes now. Its Do is Stop when the machine has ended.
func (m *Machine) Next() Op {
	if m.at == done {
		return Op{Do: Stop}
	}
	return steps[m.at].access(m)
}

// Feed continues with the result of the access that Next returned.
func (m *Machine) Feed(result uint64) { m.at = steps[m.at].then(m, result) }

// Outcome is how the machine ended.
func (m *Machine) Outcome() Outcome { return m.outcome }

// end is the last step's then.
func (m *Machine) end(o Outcome) step {
	m.outcome = o
	return done
}

// Action is what an Op does to its word.
type Action uint8

const (
	Stop    Action = iota
	Load           // result: the word
	Store          // word = A
	Add            // word += A; result: what it was
	Or             // word |= A; result: what it was
	Swap           // word = A; result: what it was
	Compare        // if word == A { word = B; result 1 } else result 0
	Ring           // wake member Index, if it waits, to look again
	Await          // wait: for the latch (Word Latch) or until this member's request is granted (Word Slot)
)

// Results of Await.
//
// A wait for the latch is over when the latch is no longer marked as awaited: then
// it is free, or somebody has it who does not know that others wait. For a Request
// it is also over when the request has become part of the queue.
const (
	Woken     uint64 = iota // what was awaited has happened
	Cancelled               // the caller no longer wants to wait; a member that waits for its grant also gets this when any member has failed
	Lost                    // the latch's holder has failed
)

// Word names one of the lock's words.
type Word uint8

const (
	State Word = iota
	Latch
	Ticket
	Slot // slot[Index]
)

// Op is one access.
type Op struct {
	Do    Action
	Word  Word
	Index int
	A, B  uint64
}
