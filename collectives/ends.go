package collectives

import (
	"github.com/golaunch/golaunch/collectives/link"
	"github.com/golaunch/golaunch/runtime/pipe"
)

// An outlet is where what goes to a peer is written: a pipe to one of the same host,
// a link to one of another.
type outlet interface {
	// Free is how many bytes may be written in one piece: at least want, if there
	// is room for them in one piece.
	Free(want int) int
	// Write writes b, which is no longer than Free allows.
	Write(b []byte) error
	// Pad moves on to where elements of any type are aligned; false: there is no
	// room yet.
	Pad() (bool, error)
}

// An inlet is where what comes from a peer is read.
type inlet interface {
	// Peek returns what can be read in one piece, without taking it. It looks for
	// more only if it knows of less than want.
	Peek(want int) []byte
	// Take gives the first n bytes of the last Peek back.
	Take(n int) error
	// Pad is the other end of outlet.Pad; false: the peer has not come that far.
	Pad() (bool, error)
}

// A padder is either.
type padder interface{ Pad() (bool, error) }

type pipeOutlet struct{ *pipe.Writer }

func (o pipeOutlet) Free(want int) int { return len(o.Room(want)) }

func (o pipeOutlet) Write(b []byte) error {
	o.Writer.Write(b)
	return nil
}

func (o pipeOutlet) Pad() (bool, error) { return o.Writer.Pad(), nil }

type pipeInlet struct{ *pipe.Reader }

func (i pipeInlet) Take(n int) error {
	i.Reader.Take(n)
	return nil
}

func (i pipeInlet) Pad() (bool, error) { return i.Reader.Pad(), nil }

type linkInlet struct{ *link.Reader }

func (i linkInlet) Peek(int) []byte { return i.Reader.Peek() }
