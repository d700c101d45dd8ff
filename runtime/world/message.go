package world

import (
	"context"
	"fmt"

	"github.com/golaunch/golaunch/runtime/world/messages"
)

// Wild sources and tags for Recv and IRecv (MPI_ANY_SOURCE, MPI_ANY_TAG).
const (
	AnySource = messages.AnySource
	AnyTag    = messages.AnyTag
)

// MaxTag is the largest tag of a message (MPI_TAG_UB). The smallest is 0.
const MaxTag = messages.MaxTag

// A TruncatedError reports that a message was longer than the buffer it was
// received into. The buffer holds the message's beginning.
type TruncatedError = messages.TruncatedError

// A Status says what was received (MPI_Status).
type Status struct {
	Source int // rank in the communicator
	Tag    int
	Count  int // elements that were stored
}

// Send sends buf to rank dst (MPI_Send). It returns when buf may be used again: for
// up to some 4,000 bytes when the message is on its way, for longer ones when the
// receiver has it.
//
// Messages from one rank to another on one communicator do not overtake each other:
// a receive takes the first of those it matches. T holds no pointers.
//
// When ctx ends first, a message that no receive has matched is withdrawn; one that
// is being received is an error there too. A receiver that fails, or leaves, is a
// *RankFailedError.
func Send[T any](ctx context.Context, comm *Comm, dst, tag int, buf []T) error {
	b, err := messageBytes(comm, "Send", buf)
	if err != nil {
		return err
	}
	return comm.box.Send(ctx, dst, tag, b)
}

// Recv receives a message from rank src, or AnySource, with the given tag, or
// AnyTag, into buf (MPI_Recv), which may be longer. A message that is longer is a
// *TruncatedError; buf is filled then.
//
// When ctx ends first, the receive is withdrawn; a message that is being received
// is stopped, which is an error at its sender too. A source that fails is a
// *RankFailedError; with AnySource, any rank of the communicator that dies is.
func Recv[T any](ctx context.Context, comm *Comm, src, tag int, buf []T) (Status, error) {
	b, err := messageBytes(comm, "Recv", buf)
	if err != nil {
		return Status{}, err
	}
	comm.process.listen()
	s, err := comm.box.Recv(ctx, src, tag, b)
	return elements[T](comm, s, err)
}

// Sendrecv sends and receives at once (MPI_Sendrecv): neither waits for the other.
// The buffers must not overlap. The error is that of the Recv if both failed.
func Sendrecv[T any](ctx context.Context, comm *Comm, dst, sendTag int, send []T, src, recvTag int, recv []T) (Status, error) {
	in, err := IRecv(comm, src, recvTag, recv)
	if err != nil {
		return Status{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	failed := Send(ctx, comm, dst, sendTag, send)
	if failed != nil { // the message may never come
		cancel(failed)
	}
	s, err := in.Wait(ctx)
	if err == nil {
		err = failed
	}
	return s, err
}

// A Request is a Send or Recv that has begun (MPI_Request). Its methods may be
// called by any goroutine.
type Request struct {
	comm  *Comm
	begun *messages.Request
	size  int // of an element
}

// ISend begins a Send (MPI_Isend). buf must not be changed before the request has
// ended. It may block for credit, as Send does; ctx bounds connecting only.
func ISend[T any](ctx context.Context, comm *Comm, dst, tag int, buf []T) (*Request, error) {
	b, err := messageBytes(comm, "ISend", buf)
	if err != nil {
		return nil, err
	}
	begun, err := comm.box.ISend(ctx, dst, tag, b)
	if err != nil {
		return nil, err
	}
	return &Request{comm, begun, sizeOf[T]()}, nil
}

// IRecv begins a Recv (MPI_Irecv). buf must not be touched before the request has
// ended.
func IRecv[T any](comm *Comm, src, tag int, buf []T) (*Request, error) {
	b, err := messageBytes(comm, "IRecv", buf)
	if err != nil {
		return nil, err
	}
	comm.process.listen()
	begun, err := comm.box.IRecv(src, tag, b)
	if err != nil {
		return nil, err
	}
	return &Request{comm, begun, sizeOf[T]()}, nil
}

// Wait returns when the request has ended (MPI_Wait). When ctx ends before, the
// request is given up as Send and Recv are; the buffer is the caller's again when
// Wait returns. The Status is that of a Recv.
func (r *Request) Wait(ctx context.Context) (Status, error) {
	s, err := r.begun.Wait(ctx)
	return status(r.comm, s, r.size, err)
}

// Test reports whether the request has ended, and how (MPI_Test). It makes
// progress and does not wait.
func (r *Request) Test() (s Status, ended bool, err error) {
	raw, ended, err := r.begun.Test()
	if !ended {
		return Status{}, false, nil
	}
	s, err = status(r.comm, raw, r.size, err)
	return s, true, err
}

// WaitAll waits for all of the requests (MPI_Waitall) and returns their statuses.
// The error is the first one by order of the requests; all have ended.
func WaitAll(ctx context.Context, requests ...*Request) ([]Status, error) {
	all := make([]Status, len(requests))
	var first error
	for i, r := range requests {
		s, err := r.Wait(ctx)
		if all[i] = s; err != nil && first == nil {
			first = err
		}
	}
	return all, first
}

// elements is status for a size that is known here, which need not be divided by.
func elements[T any](comm *Comm, s messages.Status, err error) (Status, error) {
	size := int64(sizeOf[T]())
	if err == nil && size > 0 && s.Bytes%size == 0 {
		return Status{Source: s.Source, Tag: s.Tag, Count: int(s.Bytes / size)}, nil
	}
	return status(comm, s, int(size), err)
}

// status counts elements. A message that is no number of whole elements was sent
// with another type.
func status(comm *Comm, s messages.Status, size int, err error) (Status, error) {
	if err == nil && size > 0 && s.Bytes%int64(size) != 0 {
		err = fmt.Errorf("rank %d: Recv from rank %d with tag %d on communicator %q: %d bytes came, and elements have %d",
			comm.process.rank, s.Source, s.Tag, comm.name, s.Bytes, size)
	}
	return Status{Source: s.Source, Tag: s.Tag, Count: int(s.Bytes) / max(size, 1)}, err
}
