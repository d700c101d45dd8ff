package coherence

// A State is what a host may do with a page, and what it has asked for.
type State uint8

const (
	Invalid   State = iota // no copy
	Reading                // no copy; Read is under way
	Writing                // no copy; Write or Upgrade is under way
	Shared                 // a copy to read
	Upgrading              // a copy to read; Upgrade is under way
	Modified               // the only copy, to read and write
	states
)

// Readable and Writable are what the ranks of the host may do.
func (s State) Readable() bool { return s >= Shared }
func (s State) Writable() bool { return s == Modified }

// pending tells whether a request is under way.
func (s State) pending() bool { return s == Reading || s == Writing || s == Upgrading }

// entry is what a host's cache knows of a page: four bytes.
//
//	Invariant: demand != None  =>  held, and state is readable
//	Invariant: held            =>  state is readable, and one HoldOver is outstanding
//	Invariant: wanted          =>  pending
type entry struct {
	state  State
	flags  flags
	demand Kind  // Invalidate, Recall or Fetch, put off until the hold is over
	home   uint8 // with first-touch placement: the home's number + 1, or 0 if it is not known
}

type flags uint8

const (
	held   flags = 1 << iota // granted a moment ago: demands are put off
	wanted                   // somebody waits for the page, so the grant will be held
	listed                   // in the cache's list of pages to evict
)
