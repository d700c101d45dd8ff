package schedule

// Hosts says on which host each rank is: rank r's host is the r-th character. It is
// a string so that plans stay comparable; "" has all ranks on one host.
type Hosts string

// HostsOf makes Hosts of each rank's host.
func HostsOf(hosts []int) Hosts {
	text := make([]rune, len(hosts))
	for rank, h := range hosts {
		text[rank] = rune(h)
	}
	return Hosts(text)
}

// Tiered tells whether there are several hosts, and several ranks on one of them.
func (h Hosts) Tiered() bool {
	seen := map[rune]bool{}
	ranks := 0
	for _, host := range h {
		seen[host] = true
		ranks++
	}
	return len(seen) > 1 && len(seen) < ranks
}

// levels is how a rank sees the hosts. Every host has a leader: its lowest rank,
// but of the root's host the root.
type levels struct {
	local   []int // the ranks of this rank's host, in order
	leaders []int // of all hosts, in order
	here    int   // index of this host's leader in local
	me      int   // index of this rank in local
	host    int   // index of this host's leader in leaders
	root    int   // index of the root's host's leader in leaders
}

func (p Plan) levels(rank int) levels {
	hosts := p.hosts()
	leader := map[rune]int{hosts[p.Root]: p.Root}
	for r, h := range hosts {
		if _, known := leader[h]; !known {
			leader[h] = r
		}
	}
	var l levels
	for r, h := range hosts {
		if h == hosts[rank] {
			l.local = append(l.local, r)
		}
		if leader[h] == r {
			l.leaders = append(l.leaders, r)
		}
	}
	l.here, l.me = index(l.local, leader[hosts[rank]]), index(l.local, rank)
	l.host, l.root = index(l.leaders, leader[hosts[rank]]), index(l.leaders, p.Root)
	return l
}

func (p Plan) hosts() []rune {
	if p.Hosts == "" {
		return make([]rune, p.Size)
	}
	return []rune(p.Hosts)
}

// leads tells whether this rank is its host's leader.
func (l levels) leads() bool { return l.me == l.here }

func index(list []int, v int) int {
	for i, x := range list {
		if x == v {
			return i
		}
	}
	return none
}
