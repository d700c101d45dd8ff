package group

import (
	"fmt"
	"slices"

	"github.com/golaunch/golaunch/runtime/group/exchange"
)

// A break spreads from host to host: whoever learns of one first on its host tells
// the hosts near it, both those that it sends to and those that it hears from.
// Where all ways between two hosts lead over hosts that are gone, each of the two
// has one near it that is gone, or hears of the break from one that has (silence).

// spread tells the hosts near this one that a member of it has broken the group. A
// break that came from elsewhere was passed on when it came.
func (a *across) spread() {
	member := int(min(brokenBy(a.area).Load(), uint64(len(a.ranks)))) - 1
	if member < 0 || a.hosts[member] != a.hosts[a.me] {
		return
	}
	v := reasonsOf(a.area, len(a.ranks), member)
	a.post(exchange.Verdict{Member: member, Failed: int(v.failed) - 1, Op: get(v.op[:]), Cause: get(v.cause[:])}.Encode(), -1)
}

// post posts a message to the hosts near this one, but not to the rank from which it
// has come.
func (a *across) post(msg []byte, from int) {
	for _, leader := range a.near {
		if a.ranks[leader] != from {
			_ = a.link.Post(leader, msg) // who cannot be told has other worries
		}
	}
}

// brokenElsewhere breaks the group here as a member of another host did there. Its
// reasons are written by this process only, one after the other, and not once the
// group is broken.
func (a *across) brokenElsewhere(from int, msg []byte) error {
	v, err := exchange.DecodeVerdict(msg)
	if err != nil {
		return err
	}
	sender := slices.Index(a.ranks, from)
	switch {
	case sender < 0 || a.hosts[sender] == a.hosts[a.me]:
		return fmt.Errorf("it is no member of %s on another host", a.what)
	case a.IsBroken():
		return nil
	case v.Member >= len(a.hosts) || a.hosts[v.Member] == a.hosts[a.me]:
		return fmt.Errorf("it speaks for member %d of another host", v.Member)
	}
	r := reasonsOf(a.area, len(a.ranks), v.Member)
	r.failed = int32(v.Failed) + 1
	put(r.op[:], v.Op)
	put(r.cause[:], v.Cause)
	if brokenBy(a.area).CompareAndSwap(0, uint64(1+v.Member)) {
		a.ringLocals()
		a.post(msg, from)
	}
	return nil
}
