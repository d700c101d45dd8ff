package agent

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// Joined is the line that a supervisor's process writes when it has joined, behind that
// with the address at which it serves others, if it does.
const Joined = "joined"

// A starting is a supervisor that has been started and is waited for.
type starting struct {
	job   *job
	ready *os.File // where it says how far it has come; its end: no further
	in    *bufio.Reader
}

func newStarting(j *job, ready *os.File) *starting {
	return &starting{j, ready, bufio.NewReader(ready)}
}

func (s *starting) close() { s.ready.Close() }

// line reads what it says next. When ctx ends, nothing more can be read.
func (s *starting) line(ctx context.Context) (string, error) {
	defer context.AfterFunc(ctx, func() { s.ready.SetReadDeadline(time.Unix(1, 0)) })()
	line, err := s.in.ReadString('\n')
	return strings.TrimSpace(line), err
}

// serves is where it serves others.
func (s *starting) serves(ctx context.Context) (address string, err error) { return s.line(ctx) }

// joined waits until it has joined. An error says why it has not.
func (s *starting) joined(ctx context.Context) error {
	if line, err := s.line(ctx); err == nil && line == Joined {
		return nil
	}
	select {
	case <-s.job.ended:
		return fmt.Errorf("its supervisor has ended before it had joined: %s", cmp.Or(s.job.said, "it said nothing"))
	case <-ctx.Done():
		return ctx.Err()
	}
}
