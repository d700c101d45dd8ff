package messages

import (
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/rendezvous"
)

// A TruncatedError reports that a message was longer than the buffer it was
// received into. The buffer holds the message's beginning.
type TruncatedError struct {
	Source, Tag int   // of the message
	Length      int64 // of the message, bytes
	Room        int   // of the buffer, bytes
}

func (e *TruncatedError) Error() string {
	return fmt.Sprintf("message of %d bytes from rank %d with tag %d does not fit in a buffer of %d bytes", e.Length, e.Source, e.Tag, e.Room)
}

var (
	errWithdrawn = errors.New("the sender gave the message up while it was being received")
	errAbandoned = errors.New("the receiver gave up while it received the message")
	errEnded     = errors.New("the rank has left it, or it was freed")
	errNotShared = errors.New("the memory is not the arena's, or not aligned")
	errCopy      = errors.New("copying the message failed at the other rank")
)

// outcomeError is what a side says that did not cause the outcome itself.
func outcomeError(o rendezvous.Outcome) error {
	switch o {
	case rendezvous.Withdrawn:
		return errWithdrawn
	case rendezvous.Abandoned:
		return errAbandoned
	case rendezvous.Broken:
		return errCopy
	}
	return nil
}

// errorf names the operation of a request.
func (r *Request) errorf(err error) error {
	what, word := "Recv", "from"
	if r.send {
		what, word = "Send", "to"
	}
	peer, tag := "any rank", "any tag"
	if r.send || r.peer != AnySource {
		peer = fmt.Sprintf("rank %d", r.peer)
	}
	if r.send || r.tag != AnyTag {
		tag = fmt.Sprintf("tag %d", r.tag)
	}
	return fmt.Errorf("rank %d: %s %s %s with %s on communicator %q, buffer of %d bytes: %w",
		r.box.m.cfg.Rank, what, word, peer, tag, r.box.name, len(r.data), err)
}
