package line

import "time"

// A Greeting is what a rank tells the pager of its job, as JSON. All ranks of a host
// say the same, but for Rank and PID.
type Greeting struct {
	Rank, PID   int
	Host, Hosts int // this host's number in the job
	Job         string
	Secret      []byte
	Transport   string // "auto", "tcp" or "verbs": between hosts
	Interface   string
	Loopback    bool
	Encrypt     bool
	Timeout     time.Duration
}

// A Spec describes a window, as JSON: the same at all ranks, but for Self.
type Spec struct {
	Hosts      []int    // numbers in the job of the hosts that share it
	Addresses  [][]byte // of their pagers
	Self       int      // index in Hosts
	Pages      uint32
	Blocks     []uint8 // index in Hosts, by block: the home of its pages
	BlockPages uint32
	FirstTouch bool   // the home of a page is who asks for it first; Blocks say who remembers that
	Limit      uint32 // how many pages of other homes a host caches; 0: any number
}

// Opened answers Open, as JSON.
type Opened struct {
	Paths []string // how the pager reaches the hosts of Spec: "tcp", "verbs"; "" for this one
}

// Counts are what happened to the pages of a window on this host, as JSON.
type Counts struct {
	ReadFaults, WriteFaults uint64 // loads and stores that waited
	ReadMisses, WriteMisses uint64 // pages that calls waited for
	Prefetched              uint64
	Invalidations           uint64 // copies given up because another host writes
	Evictions               uint64 // copies given up for the cache limit, or because Evict was asked for
	Downgrades              uint64 // pages that another host reads, no longer written here
	Upgrades                uint64 // pages that were read, and are written now
	PagesIn, PagesOut       uint64 // contents that came from, and went to, other hosts
	MessagesIn, MessagesOut uint64
}

// A Heat is how often a page was taken away from this host because another one wanted it.
type Heat struct {
	Page  uint32
	Taken uint32
	// False: this host is the page's home, and knows that hosts want it for different bytes.
	False bool
}

// A Report answers Figures: the totals, and the pages that were taken away most often,
// the most contended first.
type Report struct {
	Counts
	Resident uint64 // bytes of memory that the pages on this host take, by the kernel's word
	Hot      []Heat
}
