package schedule

import "math/bits"

// allreduceRecursiveDoubling: in round k ranks 2^k apart exchange what they have
// and both combine it; log2 n rounds, the whole vector in each. Where n is no
// power of two, the first ranks first fold into pairs and get the result at the
// end: two more rounds.
//
// Order: a tree over the ranks in order. Below it, where n is no power of two,
// stand the pairs (x0 op x1), (x2 op x3), ... that were folded; neighbours, then
// neighbouring pairs of these, and so on, are combined, the lower ranks to the
// left, by both partners alike.
//
// Thakur, Rabenseifner, Gropp 2005.
func allreduceRecursiveDoubling(p Plan, rank int) Schedule {
	b := newBuilder(rank, p.Size, p.Count, p.Count)
	b.InAt = 0
	power := 1 << (bits.Len(uint(p.Size)) - 1)
	folded := p.Size - power // pairs at the start
	if rank < 2*folded && rank%2 == 0 {
		sent := b.send(rank+1, Ref{In, 0}, p.Count)
		b.recv(rank+1, Ref{Out, 0}, p.Count, sent)
		return b.Schedule
	}
	d := newDoubling(b, p.Count, power, folded)
	d.foldPair()
	for dist := 1; dist < power; dist *= 2 {
		d.exchange(dist)
	}
	d.finish()
	return b.Schedule
}

// doubling is one rank's way through the rounds. value is where its partial
// result lies, ready the steps after which it may be read and overwritten.
type doubling struct {
	*builder
	count, folded int
	me            int // this rank among the power of two that take part
	left          int // rounds still to come
	value         Ref
	slots         [2]Ref
	round         int
	ready         [2]int
}

func newDoubling(b *builder, count, power, folded int) *doubling {
	d := &doubling{builder: b, count: count, folded: folded, ready: [2]int{none, none}}
	d.left = bits.Len(uint(power)) - 1
	d.me = b.Rank - folded
	if b.Rank < 2*folded {
		d.me = b.Rank / 2
		d.left++
	}
	for i := range min(2, max(d.left-1, min(d.left, 1))) {
		d.slots[i] = b.temp(count)
	}
	return d
}

// target is where the next round's result goes. It is never where the current
// value lies, for that is being sent; and not Out in the first round, for Out may
// be In.
func (d *doubling) target() Ref {
	slot := d.slots[d.round%2]
	d.left--
	d.round++
	if d.left == 0 && d.round > 1 {
		return Ref{Out, 0}
	}
	return slot
}

// foldPair takes in the value of the even rank below.
func (d *doubling) foldPair() {
	if d.Rank >= 2*d.folded {
		return
	}
	to := d.target()
	d.ready[0] = d.recvReduceLeft(d.Rank-1, to, d.value, d.count)
	d.value = to
}

func (d *doubling) exchange(dist int) {
	peer, to := d.rankOf(d.me^dist), d.target()
	receive := d.recvReduce
	if peer < d.Rank {
		receive = d.recvReduceLeft
	}
	before := d.ready
	d.ready[0] = d.send(peer, d.value, d.count, before[:]...)
	d.ready[1] = receive(peer, to, d.value, d.count, before[:]...)
	d.value = to
}

// rankOf is the rank of a member of the power of two.
func (d *doubling) rankOf(member int) int {
	if member < d.folded {
		return 2*member + 1
	}
	return member + d.folded
}

// finish puts the result in Out, where it is not there yet, and hands it to the
// folded rank.
func (d *doubling) finish() {
	out := Ref{Out, 0}
	if d.value != out {
		d.ready = [2]int{d.copy(out, d.value, d.count, d.ready[:]...), none}
	}
	if d.Rank < 2*d.folded {
		d.send(d.Rank-1, out, d.count, d.ready[:]...)
	}
}
