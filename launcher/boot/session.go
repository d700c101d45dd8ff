package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// A Session is a rank's membership in a job.
type Session struct {
	socket *os.File
	rank   int
	size   int
	host   string
	memory *os.File
	closed atomic.Bool

	details Details
	names   []string

	mu      sync.Mutex
	waiting map[uint32]chan answer // by request; nil once the supervisor is gone
	lastID  uint32
	ended   error         // why waiting is nil
	done    chan struct{} // closed when read has returned
}

// An answer is what the supervisor replied to a request.
type answer struct {
	packet Packet
	file   *os.File
}

func newSession(socket *os.File, p Packet, d Details, memory *os.File) *Session {
	return &Session{
		socket: socket, rank: int(p.Rank), size: int(p.Size), host: p.Text, memory: memory, details: d, names: d.names(),
		waiting: map[uint32]chan answer{}, done: make(chan struct{}),
	}
}

// Rank is this process's number in the job, 0 to Size()-1.
func (s *Session) Rank() int { return s.rank }

// Size is the number of ranks in the job.
func (s *Session) Size() int { return s.size }

// Host is the name of the host this rank runs on.
func (s *Session) Host() string { return s.host }

// JobMemory is the memfd the ranks of this host share with their supervisor. The
// caller owns it: Close does not close it.
func (s *Session) JobMemory() *os.File { return s.memory }

// Job is the job's random name.
func (s *Session) Job() string { return s.details.Job }

// Secret is known to the ranks and supervisors of this job and to nobody else. It
// must not be changed.
func (s *Session) Secret() []byte { return s.details.Secret }

// Settings are what golaunch's flags say about how ranks reach each other.
func (s *Session) Settings() Settings { return s.details.Settings }

// HostNames are the names of the job's hosts by their numbers in the job's memory;
// several hosts may have one name. It must not be changed.
func (s *Session) HostNames() []string { return s.names }

// SetAddress tells every host how peers reach this rank, 1 to 380 bytes. It may be
// called once. When it returns, the address stands in the memory of this host; in
// that of the others it appears moments later.
func (s *Session) SetAddress(address []byte) error {
	_, err := s.request(context.Background(), Packet{Kind: Address, Rank: int32(s.rank), Text: string(address)}, nil)
	return s.name(err, "announcing its address of %d bytes", len(address))
}

// SetAddressOf tells this host how it reaches a rank of another one. It is for jobs
// that golaunch has not started; golaunch itself brings such news.
func (s *Session) SetAddressOf(rank int, address []byte) error {
	_, err := s.request(context.Background(), Packet{Kind: Address, Rank: int32(rank), Text: string(address)}, nil)
	return s.name(err, "passing on the address of rank %d, %d bytes", rank, len(address))
}

// Report hands over this rank's figures for golaunch --stats, at most MaxText
// bytes; docs/launching.md has their form. The last report counts.
func (s *Session) Report(figures []byte) error {
	var err error
	if len(figures) > MaxText {
		err = fmt.Errorf("there can be %d", MaxText)
	} else {
		_, err = s.request(context.Background(), Packet{Kind: Report, Text: string(figures)}, nil)
	}
	return s.name(err, "reporting %d bytes of figures", len(figures))
}

// Publish hands the supervisor the descriptor of one of this rank's memory
// segments, of size bytes, under a key of this rank's choice. When it returns,
// every rank of the host can Open it. The caller keeps owning f.
func (s *Session) Publish(key uint64, f *os.File, size int64) error {
	_, err := s.request(context.Background(), Packet{Kind: Publish, Key: key, Bytes: size}, f)
	return s.name(err, "publishing segment %#x of %d bytes", key, size)
}

// Withdraw takes a published segment back: the supervisor closes its descriptor,
// and later Opens are errors. Whoever has opened it keeps it.
func (s *Session) Withdraw(key uint64) error {
	_, err := s.request(context.Background(), Packet{Kind: Withdraw, Key: key}, nil)
	return s.name(err, "withdrawing segment %#x", key)
}

// Open returns a descriptor of a segment that rank publishes; the caller closes
// it. It waits until the segment is published, ctx ends, or rank can publish no
// more because it has left or failed, which is an error, as is a segment that was
// withdrawn.
func (s *Session) Open(ctx context.Context, rank int, key uint64) (*os.File, error) {
	f, err := s.request(ctx, Packet{Kind: Open, Rank: int32(rank), Key: key}, nil)
	if err == nil && f == nil {
		err = errors.New("the supervisor sent no descriptor")
	}
	return f, s.name(err, "opening segment %#x of rank %d", key, rank)
}

// Pager returns a socket whose other end the pager of this rank's host has: a process
// that the supervisor starts when it is first asked for. A supervisor plays several hosts
// when each of its ranks is one. The caller closes the socket.
func (s *Session) Pager(ctx context.Context, host int) (*os.File, error) {
	f, err := s.request(ctx, Packet{Kind: Pager, Key: uint64(host)}, nil)
	if err == nil && f == nil {
		err = errors.New("the supervisor sent no descriptor")
	}
	return f, s.name(err, "asking for the pager of its host")
}

// Abort asks for the end of the whole job; golaunch will exit with code (1 if it
// is not between 1 and 255) and show reason. It returns when the supervisor has
// taken note; moments later this process is stopped like every other.
func (s *Session) Abort(code int, reason string) error {
	_, err := s.request(context.Background(), Packet{Kind: Abort, Code: int32(code), Text: reason}, nil)
	return s.name(err, "aborting the job with code %d", code)
}

// Leave says goodbye: the exit that follows is no failure. It returns when the
// supervisor has taken note.
func (s *Session) Leave() error {
	_, err := s.request(context.Background(), Packet{Kind: Leave}, nil)
	return s.name(err, "leaving the job")
}

// Close ends the session. Without Leave before it, the supervisor takes the rank
// for failed. Requests that wait for an answer end with an error.
func (s *Session) Close() error {
	s.closed.Store(true)
	err := s.socket.Close()
	<-s.done
	return err
}

func (s *Session) name(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("rank %d: %s: %w", s.rank, fmt.Sprintf(format, args...), err)
}

// request sends p and waits for the answer.
func (s *Session) request(ctx context.Context, p Packet, pass *os.File) (*os.File, error) {
	id, reply, err := s.expect()
	if err != nil {
		return nil, err
	}
	p.ID = id
	if err := Send(s.socket, p, pass); err != nil {
		s.forget(id)
		return nil, err
	}
	select {
	case a, ok := <-reply:
		if !ok {
			return nil, s.reason()
		}
		return a.result()
	case <-ctx.Done():
		if !s.forget(id) { // the answer is already ours
			closeAnswer(<-reply)
		}
		return nil, context.Cause(ctx)
	}
}

func (a answer) result() (*os.File, error) {
	if a.packet.Kind == Done {
		return a.file, nil
	}
	closeAnswer(a)
	return nil, errors.New(a.packet.Text)
}

func closeAnswer(a answer) {
	if a.file != nil {
		a.file.Close()
	}
}

// expect enters a new request into the table.
func (s *Session) expect() (uint32, chan answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		return 0, nil, s.ended
	}
	s.lastID++
	reply := make(chan answer, 1)
	s.waiting[s.lastID] = reply
	return s.lastID, reply, nil
}

// forget takes a request out of the table; false: it was answered already, or
// never will be, and its channel says which.
func (s *Session) forget(id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.waiting[id]
	delete(s.waiting, id)
	return found
}

func (s *Session) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// read hands each answer to who waits for it, until the socket is closed here or
// there.
func (s *Session) read() {
	defer close(s.done)
	for {
		p, file, err := Receive(s.socket)
		if err != nil {
			s.end(err)
			return
		}
		s.deliver(answer{p, file})
	}
}

func (s *Session) deliver(a answer) {
	s.mu.Lock()
	reply := s.waiting[a.packet.ID]
	delete(s.waiting, a.packet.ID)
	s.mu.Unlock()
	if reply == nil { // its context ended
		closeAnswer(a)
		return
	}
	reply <- a
}

// end fails every request that still waits, and all later ones.
func (s *Session) end(err error) {
	if s.closed.Load() {
		err = errors.New("the session is closed")
	} else {
		err = fmt.Errorf("the connection to the supervisor is lost: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = err
	for _, reply := range s.waiting {
		close(reply)
	}
	s.waiting = nil
}
