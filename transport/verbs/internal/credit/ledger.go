package credit

// Limits are in buffers. 0 < Least <= Full <= Most.
type Limits struct {
	Least  int // reserved for each peer
	Full   int // messages of a peer that are accepted although nobody takes them
	Most   int // of one peer
	Budget int // for all, unless Least of each is more
}

// Greatest is how many buffers so many peers make post. One that is gone counts as long
// as a message of it waits.
func (l Limits) Greatest(peers int) int { return min(l.Most*peers, max(l.Budget, 0)+l.Least*peers) }

// A Ledger is who has how many buffers.
//
// Invariant: used <= posted. used is the sum over the peers of what each holds, but at
// least Least, and of the messages in buffers of peers that are gone.
type Ledger struct {
	Limits
	posted, used, peers int
}

// A Peer is what a ledger knows of one. Each is admitted once.
//
// Invariant: 0 <= out <= held; held+copied <= Most. While it is not gone, out is 0 only
// if the program has messages of it to take.
type Peer struct {
	out    int // messages it may send, or has sent without their having been noticed
	held   int // buffers: for those, and for messages that arrived and were not copied
	copied int // messages that the program has not taken
	gone   bool
}

// Lacking is how many buffers are to be posted before one more peer is admitted.
func (l *Ledger) Lacking() int {
	wanted := max(l.Least, min(share(l.Limits, l.peers+1), l.Budget-l.used))
	return max(0, l.used+wanted-l.posted)
}

// Posted says that there are n buffers more.
func (l *Ledger) Posted(n int) { l.posted += n }

// Admit returns how many messages a new peer may send.
//
// Precondition: Lacking is 0.
func (l *Ledger) Admit(p *Peer) int {
	l.peers++
	l.used += l.Least
	return l.grant(p, l.possible(p))
}

// Copies reports whether a message that has come is to be copied, and its buffer posted
// again, before it counts as arrived.
func (l *Ledger) Copies(p *Peer) bool { return p.held < l.Full }

// Arrived takes note of a message.
func (l *Ledger) Arrived(p *Peer, copied bool) {
	p.out--
	if copied {
		p.copied++
		l.hold(p, p.held-1)
	}
}

// Taken takes note of a message that the program needs no more. Its buffer is posted
// again, unless it had been copied.
func (l *Ledger) Taken(p *Peer, copied bool) {
	if copied {
		p.copied--
	} else {
		l.hold(p, p.held-1)
	}
}

// Grant returns how many messages more the peer may send: it is to be told. Half a share
// is worth telling, and anything to who has nothing left.
func (l *Ledger) Grant(p *Peer) int {
	n := l.possible(p)
	if n <= 0 || p.gone || p.out > 0 && 2*n < share(l.Limits, l.peers) {
		return 0
	}
	return l.grant(p, n)
}

// Gone takes note that nothing more arrives of a peer. What has arrived is still to be
// taken.
func (l *Ledger) Gone(p *Peer) {
	l.used -= max(p.held, l.Least)
	p.held -= p.out
	p.out, p.gone = 0, true
	l.used += p.held
	l.peers--
}

func share(l Limits, peers int) int { return max(l.Least, min(l.Most, l.Budget/max(peers, 1))) }

// possible is how many buffers more a peer may have: of its share, of its reserve and
// what nobody has, and as far as its messages are taken.
func (l *Ledger) possible(p *Peer) int {
	share := share(l.Limits, l.peers)
	spare := max(0, min(l.posted, l.Budget)-l.used)
	return min(share-p.held, max(0, l.Least-p.held)+spare, max(share, l.Full)-p.held-p.copied)
}

func (l *Ledger) grant(p *Peer, n int) int {
	p.out += n
	l.hold(p, p.held+n)
	return n
}

func (l *Ledger) hold(p *Peer, n int) {
	least := l.Least
	if p.gone {
		least = 0
	}
	l.used += max(n, least) - max(p.held, least)
	p.held = n
}
