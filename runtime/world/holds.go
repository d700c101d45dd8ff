package world

import (
	"encoding/binary"

	"github.com/golaunch/golaunch/runtime/arena"
	"github.com/golaunch/golaunch/runtime/job"
)

// Memory that operations ended on without everybody's agreement. Others may still
// touch it, so the arena holds it (runtime/arena/quarantine) until each of them has
// told this rank that it does so no more.
//
// Holds are named alike at all members: by the communicator's context and 0 for
// whatever its operations were given, or the number of one of its windows. So a rank
// can confirm what it has never heard of.

// confirmPort is where confirmations arrive, at every rank.
const confirmPort = 4

// A confirmation is the two words of a hold's name, little-endian.
const confirmationSize = 16

func encodeConfirmation(name arena.HoldName) []byte {
	msg := binary.LittleEndian.AppendUint64(nil, name.Context)
	return binary.LittleEndian.AppendUint64(msg, name.Number)
}

// confirmed is the handler of confirmPort. One that makes no sense is dropped: the
// memory stays where it is.
func (p *process) confirmed(from int, msg []byte) {
	if len(msg) == confirmationSize {
		p.arena.Confirm(arena.HoldName{
			Context: binary.LittleEndian.Uint64(msg),
			Number:  binary.LittleEndian.Uint64(msg[8:]),
		}, from)
	}
}

// hold keeps memory of this rank from the given ones.
func (p *process) hold(name arena.HoldName, ranks []int, wide bool) {
	p.arena.Hold(name, ranks, wide)
	p.listen() // for their confirmations
}

// manyRanks is from where on a confirmation makes no connection: when a communicator
// breaks, all of its ranks would connect to all. Those that are told nothing keep what
// they freed until this rank has left.
const manyRanks = 32

// confirm tells ranks that this one touches nothing any more that it could under
// their hold of that name, and that what it had begun has arrived. It does not wait.
func (p *process) confirm(name arena.HoldName, ranks []int) {
	msg := encodeConfirmation(name)
	for _, rank := range ranks {
		if len(ranks) >= manyRanks && !p.router.Connected(rank) {
			continue
		}
		if p.local(rank) {
			p.tell(rank, msg) // what was written there has been
			continue
		}
		p.background.Go(func() {
			p.flush(rank)
			p.tell(rank, msg)
		})
	}
}

// tell fails only where a rank is gone, which says as much.
func (p *process) tell(rank int, msg []byte) {
	if p.router.Failure(rank) == nil {
		_ = p.router.Post(rank, confirmPort, msg)
	}
}

// flush waits until nothing that was begun at a rank is under way: it has arrived, was
// refused there, or the rank is gone. Or this rank leaves.
func (p *process) flush(rank int) {
	conn, err := p.router.Conn(p.ctx, rank)
	if err != nil {
		return
	}
	op := p.router.NewOp()
	if conn.Flush(op.ID()) != nil {
		p.router.Drop(op)
		return
	}
	_ = p.router.Await(p.ctx, rank, op)
}

// gone is the arena's question. A rank of this host can do nothing once its process
// has ended; one that is a goroutine, once it has left. One of another host, once
// its connection brings nothing more: then its device has none to this rank.
func (p *process) gone(rank int) bool {
	state, code := p.mem.State(rank)
	if !p.local(rank) {
		return p.silent(rank) != nil
	}
	_, goroutine := p.supervisor.(*hubMember)
	return state == job.Left || state == job.Failed && code != 0 && !goroutine
}

// others are the members but this rank, as ranks of the job.
func (c *Comm) others() []int {
	ranks := c.ranks()
	me := c.Rank()
	return append(ranks[:me:me], ranks[me+1:]...)
}

// doubt is called when an operation of c has failed here: it touches nothing any
// more, but others may not be so far.
func (c *Comm) doubt() {
	c.forsake.Do(func() {
		name := arena.HoldName{Context: c.context}
		c.process.hold(name, c.others(), true)
		c.process.confirm(name, c.others())
	})
}

// resign is called when this rank finds c broken, outside of its operations.
func (c *Comm) resign() {
	c.forsake.Do(func() { c.process.confirm(arena.HoldName{Context: c.context}, c.others()) })
}

// NextNumber is a number that names the same thing at all members. It is called
// between Enter and Exit of a collective operation.
func (in *Inside) NextNumber() uint64 {
	in.numbers++
	return in.numbers
}

// Forsake says that this rank touches nothing any more of what the members gave it
// under a number, and keeps what it has given them itself: memory that is freed under
// the returned hold is not used again until every member has forsaken that number or
// is gone. It is for what ends without agreement. Numbers are those of NextNumber, and forsaken
// once.
func (in *Inside) Forsake(number uint64) arena.HoldName {
	c := in.comm
	name := arena.HoldName{Context: c.context, Number: number}
	c.process.hold(name, c.others(), false)
	c.process.confirm(name, c.others())
	return name
}
