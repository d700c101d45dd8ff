package roster

// An Instant is a point in time in nanoseconds; where zero lies does not matter.
type Instant int64

// Second is a second.
const Second Instant = 1e9

// A State is what is believed of a member.
type State uint8

// The states.
const (
	Alive State = iota
	Dead        // gossip has confirmed that it does not answer
	Left        // it said so
)

func (s State) String() string {
	switch s {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	}
	return "left"
}

// An Entry is what is known of a member.
type Entry struct {
	Name  string
	Addr  string // where it gossips, host:port
	Life  uint64 // drawn by its process when it started
	Meta  string // what it says of itself, encoded
	State State
	Since Instant // of the state, or of the life
}

// An Event is something that happened.
type Event interface{ event() }

// Up: gossip says that a member lives, or tells something new of it.
type Up struct {
	Name, Addr string
	Life       uint64
	Meta       string
}

// Down: gossip says that a member does not live.
type Down struct{ Name string }

// Goodbye: a member says that it leaves.
type Goodbye struct {
	Name string
	Life uint64
}

// Clash: somebody at Other wants the name of a living member.
type Clash struct{ Name, Other string }

// Called: the round of calls is over. Answered are the addresses where somebody did.
type Called struct{ Answered []string }

// Tick: nothing but time has passed.
type Tick struct{}

func (Up) event()      {}
func (Down) event()    {}
func (Goodbye) event() {}
func (Clash) event()   {}
func (Called) event()  {}
func (Tick) event()    {}

// A Change is something about a member that is different from now on.
type Change uint8

// The changes.
const (
	Joined    Change = iota
	Updated          // what it says of itself
	Restarted        // its process is another
	Died
	Departed // it has left, or what was taken for its death was that
	Clashed  // Entry.Addr is where the other one is
	Forgotten
)

func (c Change) String() string {
	return [...]string{"joined", "updated", "restarted", "died", "left", "name clash", "forgotten"}[c]
}

// An Action is something to be done now.
type Action interface{ action() }

// Tell: the change is news to whoever watches.
type Tell struct {
	Change Change
	Entry  Entry
}

// Pass: the goodbye is news and is to be passed on.
type Pass struct{ Goodbye }

// Call: exchange everything known with who is at these addresses, then report Called.
type Call struct{ Addrs []string }

func (Tell) action() {}
func (Pass) action() {}
func (Call) action() {}
