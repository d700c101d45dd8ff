package lock

// Deputies are the Peers of a lock some of whose members have no access to its block:
// they are on other hosts. In Home's process each of them has a deputy: a Lock made for
// that member, which waits as Home does.
type Deputies struct {
	Peers        // as the member in whose process this Lock is sees them
	Home  int    // in whose memory the block is
	Away  []bool // members that have deputies
}

// Ring wakes a member, or its deputy.
func (d *Deputies) Ring(member int) {
	if d.Away[member] {
		member = d.Home
	}
	d.Peers.Ring(member)
}
