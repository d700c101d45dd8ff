package collectives

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/group"
)

// A MismatchError reports that two ranks called different operations, or the same
// one with different arguments.
type MismatchError struct {
	Rank         int    // of the other one, in the communicator
	Mine, Theirs string // the calls: "Bcast (float64) of 800 bytes from root 0"
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("rank %d calls %s; this rank calls %s", e.Rank, e.Theirs, e.Mine)
}

// explain turns a group's mismatch of signatures into a MismatchError.
func (e *engine) explain(c *call, err error) error {
	var m *group.MismatchError
	if !errors.As(err, &m) {
		return err
	}
	return &MismatchError{Rank: m.Member, Mine: c.String(), Theirs: e.calledBy(m.Member, m.Theirs)}
}

// calledBy says what a member called. In the first round of a large operation its
// slot has the offer.
func (e *engine) calledBy(member int, signature uint32) string {
	theirs, ok := decode(signature)
	if !ok {
		return fmt.Sprintf("an operation that is no collective (signature %#x)", signature)
	}
	if signature&sigLarge != 0 {
		if o, err := decodeOffer(e.group.Payload(member)); err == nil {
			theirs.bytes, theirs.root = o.bytes, o.root
		}
	}
	return theirs.String()
}
