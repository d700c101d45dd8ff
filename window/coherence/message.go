package coherence

// Page numbers a page of the window, over all ranks' parts.
type Page uint32

// A Kind says what a Msg is.
type Kind uint8

// What happens at a host: the pager tells its own machine.
const (
	None          Kind = iota
	ReadFault          // a rank reads a page that it may not read, or asks for it with a Get
	WriteFault         // a rank writes a page that it may not write
	PrefetchRead       // a rank will read the page; nobody waits for it now
	PrefetchWrite      // a rank will write the page; nobody waits for it now
	Evict              // the page is not needed here any more
	HoldOver           // the time is over that the last Hold of the page asked for
	HostDead           // Msg.Host has been silent for 2T: it has fenced itself
	Fence              // this host has not heard of the job's root for T
)

// From a host's cache to a page's home.
const (
	Read          Kind = iota + Fence + 1 // a copy to read
	Write                                 // a copy to write; the sender has none
	Upgrade                               // leave to write the copy that the sender had when it sent this
	InvalidateAck                         // the copy is gone; with its content, if it was recalled
	FetchAck                              // the copy's content; it may be read on
	WriteBack                             // the content of a writable copy that was evicted
)

// From a page's home to a host's cache.
const (
	GrantRead  Kind = iota + WriteBack + 1 // you may read; with the content
	GrantWrite                             // only you may read and write; with the content, unless you have it
	Invalidate                             // give your copy up
	Recall                                 // give your copy up and send its content
	Fetch                                  // send the content, and write no more
	Store                                  // to the home's own cache: the content, since nobody may write now
	Lost                                   // the content died with its only owner, or with its home
)

// Where a page's home is, for first-touch placement.
const (
	Locate  Kind = iota + Lost + 1 // to the page's registrar: who is the home?
	Located                        // Msg.Host is the home
)

// What the pager has to do, in this order.
const (
	Fill         Kind = iota + Located + 1 // install Data where no page was; reads only
	FillWritable                           // install Data where no page was
	Unprotect                              // allow writing the page
	Protect                                // forbid writing it, in every view
	Save                                   // put the content aside, as the Data called Saved of this page
	Drop                                   // take the page away, from every view
	Discard                                // the same, because the page is evicted
	Wake                                   // let everybody who has faulted on the page try again
	Hold                                   // come back with one HoldOver after 50 to 200 us
	Free                                   // Data is not needed any more
	Fail                                   // the page is lost: an error for everybody who waits for it
	Kill                                   // kill the ranks of this host
	kinds
)

// Data names the content of a page that travels: for the pager a staging slot, for
// the tests the content itself. The machines only pass it on.
//
// Ownership: Data of a message belongs to the machine that it is given to, until it
// comes out again. It comes out in one Step, in one message or in several.
type Data uint32

const (
	NoData Data = 0
	// Zero is a page of zeros, for which no slot is needed.
	Zero Data = 1<<32 - 1
	// Saved is what the last Save of this page at this host put aside. Orders of a plan that
	// save the same content twice are one, so it may come out several times; Host.Keeps says
	// whether it will again.
	Saved Data = 1<<32 - 2
)

// A Msg is something that happens, something one host tells another, or something
// the pager has to do: 12 bytes, without pointers.
type Msg struct {
	Kind     Kind
	From, To uint8 // hosts; equal for what stays on one
	Host     uint8 // Located: the home; HostDead: who
	Page     Page
	Data     Data
}

// carries tells whether messages of this kind may have Data.
func (k Kind) carries() bool {
	switch k {
	case InvalidateAck, FetchAck, WriteBack, GrantRead, GrantWrite, Store:
		return true
	}
	return false
}
