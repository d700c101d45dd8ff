package api

import (
	"errors"
	"fmt"
	"net/http"
)

// A Kind says what an error means to whoever asked.
type Kind string

// The kinds.
const (
	BadRequest Kind = "bad request" // it makes no sense, whatever the state of things
	Denied     Kind = "denied"      // not to this caller
	Unknown    Kind = "unknown"     // there is no such thing
	NoRoom     Kind = "no room"     // there is not enough of something
	Failed     Kind = "failed"      // it went wrong
	// Unreached: the agent has not answered. Whether it has done what was asked is not
	// known. Only clients say this.
	Unreached Kind = "unreached"
)

// An Error is why a request was not met.
type Error struct {
	Kind Kind
	Text string
	// Agent and Op say who was asked for what; agents leave them empty.
	Agent, Op string
	cause     error
}

// Errorf returns an Error of a kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if e.Agent == "" {
		return e.Text
	}
	return fmt.Sprintf("the agent %s: %s: %s", e.Agent, e.Op, e.Text)
}

// Unwrap is why there was no answer, for Unreached.
func (e *Error) Unwrap() error { return e.cause }

// KindOf is the kind of an error; Failed if it is no Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Failed
}

// status is what HTTP calls a kind.
func (k Kind) status() int {
	switch k {
	case BadRequest:
		return http.StatusBadRequest
	case Denied:
		return http.StatusForbidden
	case Unknown:
		return http.StatusNotFound
	case NoRoom:
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// failure is how an error travels.
type failure struct {
	Kind Kind   `json:"kind"`
	Text string `json:"error"`
}

func (*failure) check() error { return nil }
