package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/control"
	"github.com/golaunch/golaunch/launcher/internal/proc"
	"github.com/golaunch/golaunch/launcher/internal/relay"
	"github.com/golaunch/golaunch/runtime/job"
)

// JoinOptions say which job a supervisor joins over a network, and where in its
// tree (docs/launch-tree.md).
type JoinOptions struct {
	// Parents are whom it attaches to, host:port each, the nearest first: the first
	// that lives is taken, at the beginning and whenever that one is lost. The last
	// is the front.
	Parents []string
	Key     []byte
	Host    string        // what this host is called; "": what it calls itself
	Slots   int           // how many ranks it takes; 0: any number
	Wait    time.Duration // for one of Parents to listen
	// Serve, if not empty, is an address, host:port (port 0: any), at which it lets
	// the supervisors below it attach. It listens there before it joins.
	Serve string
}

// A step is what a supervisor says to its guardian on its way into the job.
type step struct {
	Serving string // host:port where it lets those below it attach; "": nowhere, Serve was empty
	Joined  bool
}

// ReadSteps waits until the supervisor at the other end of guardian listens where it
// serves others, and calls serving with the address, "" if it does not serve; and then
// until it has joined. An error says that it has ended, and why it has is on its stderr.
func ReadSteps(guardian io.Reader, serving func(address string)) error {
	d := json.NewDecoder(guardian)
	var s step
	if err := d.Decode(&s); err != nil {
		return err
	}
	serving(s.Serving)
	return d.Decode(&s)
}

// front is the address of the front.
func (o *JoinOptions) front() string { return o.Parents[len(o.Parents)-1] }

// graceAlone is how long ranks live after the front was lost: they have been told
// that everybody elsewhere has failed, and may save what they have.
const graceAlone = 2 * time.Second

// joined is what is different when the front is elsewhere.
type joined struct {
	JoinOptions
	node     *relay.Node   // the stream to the front, and what others attach to
	guardian chan struct{} // closed when the process that started this one is gone, or wants the end
}

// RunJoined is the whole life of a supervisor process that joins a job over a
// network. The process that started it is at the other end of guardian; it has
// written the options there (WriteOptions), and when it closes its end, the
// supervisor ends, and everything below it. It returns the process's exit code.
func RunJoined(guardian io.ReadWriter) int {
	standApart(false)
	code, err := runJoined(guardian)
	if err != nil {
		fmt.Fprintln(os.Stderr, "golaunch: supervise:", err)
	}
	return code
}

// WriteOptions writes o for RunJoined.
func WriteOptions(w io.Writer, o JoinOptions) error { return json.NewEncoder(w).Encode(o) }

func runJoined(guardian io.ReadWriter) (int, error) {
	j := &joined{guardian: make(chan struct{})}
	if err := json.NewDecoder(guardian).Decode(&j.JoinOptions); err != nil {
		return 1, fmt.Errorf("what to join was not said: %w", err)
	}
	if len(j.Parents) == 0 {
		return 1, errors.New("what to join was not said")
	}
	var err error
	if j.node, err = relay.NewNode(j.Serve, j.Key); err != nil {
		return 1, fmt.Errorf("serving others at %s: %w", j.Serve, err)
	}
	if err := json.NewEncoder(guardian).Encode(step{Serving: j.node.Addr()}); err != nil {
		return 1, err
	}
	go func() {
		io.Copy(io.Discard, guardian)
		close(j.guardian)
	}()
	children, err := proc.New()
	if err != nil {
		return 1, err
	}
	if err := j.join(); err != nil {
		return 1, fmt.Errorf("joining the job at %s: %w", j.front(), err)
	}
	if err := json.NewEncoder(guardian).Encode(step{Joined: true}); err != nil {
		return 1, err
	}
	name := j.Host
	if name == "" {
		name = hostname()
	}
	return newSupervisor(control.NewPromptConn(j.node), children, name, j).serve(), nil
}

func (j *joined) join() error {
	ctx, cancel := context.WithTimeout(context.Background(), j.Wait)
	defer cancel()
	go func() {
		select {
		case <-j.guardian:
			cancel()
		case <-ctx.Done():
		}
	}()
	return j.node.Join(ctx, j.Parents)
}

// dismissed is closed when this supervisor is to end; nil, which never is, when it
// has no guardian.
func (j *joined) dismissed() <-chan struct{} {
	if j == nil {
		return nil
	}
	return j.guardian
}

// A refusedError is the front's reason.
type refusedError struct{ text string }

func (e refusedError) Error() string { return e.text }

// answered follows the front's answer to the offer.
func (j *joined) answered(m control.Message) error {
	switch m := m.(type) {
	case *control.Refused:
		return refusedError{m.Text}
	case *control.Keep:
		if j == nil || m.Timeout <= 0 {
			return fmt.Errorf("the front sent %T%+v", m, *m)
		}
	}
	return nil
}

// leave waits until no other host needs this one, or its guardian wants the end.
func (j *joined) leave() {
	if j == nil {
		return
	}
	left := make(chan struct{})
	go func() { j.node.Leave(); close(left) }()
	select {
	case <-left:
	case <-j.guardian:
	}
}

// mind stops minding that nothing is heard of the front, or begins again.
func (j *joined) mind(silence bool) {
	switch {
	case j == nil:
	case silence:
		j.node.Resume()
	default:
		j.node.Pause()
	}
}

// cutOff follows the loss of the front. Nobody can tell any more what becomes of
// the ranks elsewhere: they count as lost, those here get a moment to act on that,
// and then they are killed.
func (s *supervisor) cutOff(err error) int {
	s.front.Close()
	var refused refusedError
	var rejected *relay.RejectedError
	switch {
	case errors.As(err, &refused), errors.As(err, &rejected):
		fmt.Fprintf(os.Stderr, "golaunch: supervise: the front at %s refuses this host: %v\n", s.joined.front(), err)
	case err == io.EOF:
		fmt.Fprintf(os.Stderr, "golaunch: supervise: the front at %s is gone\n", s.joined.front())
	default:
		fmt.Fprintf(os.Stderr, "golaunch: supervise: the front at %s is lost: %v\n", s.joined.front(), err)
	}
	s.loseOthers()
	over := make(chan struct{})
	go func() { s.children.Wait(graceAlone); close(over) }()
	select {
	case <-over:
	case <-s.joined.dismissed():
	}
	return s.abandoned(io.EOF)
}

// loseOthers marks every rank elsewhere as lost with its host.
func (s *supervisor) loseOthers() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory == nil {
		return
	}
	for rank := range s.size {
		if state, _ := s.memory.State(rank); s.ranks[rank] == nil && !state.Over() {
			s.memory.Report(rank, job.Failed, job.CodeHostLost)
		}
	}
}
