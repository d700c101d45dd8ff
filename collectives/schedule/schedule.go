package schedule

// Kind is what a step does.
type Kind uint8

// The kinds of step. "Received" means the next Len elements of the peer's stream.
const (
	// Send appends From to the stream to Peer.
	Send Kind = iota
	// Recv stores the received elements Into.
	Recv
	// RecvReduce stores From op received Into, or received op From when Left is set.
	RecvReduce
	// Copy stores From Into.
	Copy
	// Reduce stores From op With Into.
	Reduce
)

// Buffer names one of the memories a schedule works on.
type Buffer uint8

// The buffers of a collective, as package documentation describes them.
const (
	In Buffer = iota
	Out
	Temp
)

// Ref is a place in a buffer: Off elements from its start.
type Ref struct {
	Buffer Buffer
	Off    int
}

// plus is the place n elements further on.
func (r Ref) plus(n int) Ref { return Ref{r.Buffer, r.Off + n} }

// Step is one thing to do once every step in After is complete.
//
// Invariants (see [Check]): Len > 0; every index in After is smaller than the
// step's own; Into never lies in In; Into and an operand either coincide or do
// not overlap.
type Step struct {
	Kind  Kind
	Left  bool  // RecvReduce: the received elements are the left operand
	Peer  int   // Send, Recv, RecvReduce
	Len   int   // elements
	From  Ref   // what is read; of RecvReduce the operand that is already here
	With  Ref   // Reduce: the right operand
	Into  Ref   // what is written; not of Send
	After []int // indices of steps
}

// receives tells whether the step takes elements from its peer's stream.
func (s Step) receives() bool { return s.Kind == Recv || s.Kind == RecvReduce }

// writes tells whether the step stores Into.
func (s Step) writes() bool { return s.Kind != Send }

// reads lists the places the step reads.
func (s Step) reads() []Ref {
	switch s.Kind {
	case Recv:
		return nil
	case Reduce:
		return []Ref{s.From, s.With}
	default:
		return []Ref{s.From}
	}
}

// NoAlias is the InAt of a schedule whose In and Out never share memory.
const NoAlias = -1

// Schedule is what one rank does. It must not be modified.
type Schedule struct {
	Rank, Size    int
	In, Out, Temp int // elements in each buffer
	InAt          int // where In lies within Out when the caller passes one memory for both, or NoAlias
	Steps         []Step
}
