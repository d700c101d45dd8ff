package program

import (
	"errors"
	"fmt"
	"strings"
)

// A UsageError is a fault of the command line that shows only after joining, when
// the number of ranks is known. Run returns it.
type UsageError struct{ What string }

func (e *UsageError) Error() string { return e.What }

// Usagef is a *UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

func exitCode(err error) int {
	var usage *UsageError
	if errors.As(err, &usage) {
		return Usage
	}
	return Failure
}

// named is err with the rank that reports it in front, and there only: errors of
// the library name it already, and what has been put around them stands before
// that name. Names of other ranks stay.
func named(rank int, err error) error {
	if err == nil {
		return nil
	}
	return &rankError{rank, err}
}

type rankError struct {
	rank int
	err  error
}

func (e *rankError) Unwrap() error { return e.err }

func (e *rankError) Error() string {
	name := fmt.Sprintf("rank %d: ", e.rank)
	text := strings.TrimPrefix(e.err.Error(), name)
	return name + strings.ReplaceAll(text, ": "+name, ": ")
}
