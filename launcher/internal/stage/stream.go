package stage

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// A stream is one end of a connection. One goroutine reads; any may write and end
// it.
type stream struct {
	conn    io.ReadWriteCloser
	in      *bufio.Reader
	silence time.Duration
	watch   *time.Timer // runs while somebody reads
	reading atomic.Bool
	missed  atomic.Int32 // quarters of silence since it began to

	ctx   context.Context // ends with the stream; its cause is why
	end   context.CancelCauseFunc
	unreg func() bool

	writing sync.Mutex
}

// pieceSize is how much is read at once.
const pieceSize = 64 << 10

func newStream(ctx context.Context, conn io.ReadWriteCloser, silence time.Duration) *stream {
	s := &stream{conn: conn, silence: silence}
	s.ctx, s.end = context.WithCancelCause(ctx)
	s.unreg = context.AfterFunc(s.ctx, func() { conn.Close() })
	s.watch = time.AfterFunc(silence/quarters, s.miss)
	s.watch.Stop()
	s.in = bufio.NewReaderSize(heard{s}, pieceSize)
	return s
}

// quarters is in how many parts silence is measured: when this process itself has not
// run for a while, one is over, and what has come meanwhile is read in the next.
const quarters = 4

// miss notes that nothing came for a quarter.
func (s *stream) miss() {
	if !s.reading.Load() {
		return // it stopped just now
	}
	if s.missed.Add(1) < quarters {
		s.watch.Reset(s.silence / quarters)
		return
	}
	s.end(fmt.Errorf("nothing was heard for %v", s.silence))
}

// close ends the stream, if it has not ended, and closes the connection.
func (s *stream) close() {
	if s.unreg() {
		defer s.conn.Close()
	}
	s.end(errClosed)
	s.watch.Stop()
}

// heard reads from the connection, which must not be silent meanwhile.
type heard struct{ *stream }

func (h heard) Read(p []byte) (int, error) {
	h.missed.Store(0)
	h.reading.Store(true)
	h.watch.Reset(h.silence / quarters)
	n, err := h.conn.Read(p)
	h.reading.Store(false)
	h.watch.Stop()
	if err == io.EOF {
		err = errClosed
	}
	return n, h.why(err)
}

// why is the reason for an error: that for which the stream ended, if it has.
func (s *stream) why(err error) error {
	if err != nil && s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	return err
}

// next reads the header of the next frame that is not a beat.
func (s *stream) next() (kind, int, error) {
	for {
		var h [headerSize]byte
		if _, err := io.ReadFull(s.in, h[:]); err != nil {
			return 0, 0, err
		}
		k, length, err := parseHeader(h[:])
		if err != nil || k != kindBeat {
			return k, length, err
		}
	}
}

// payload reads what a frame has.
func (s *stream) payload(length int) ([]byte, error) {
	b := make([]byte, length)
	_, err := io.ReadFull(s.in, b)
	return b, err
}

// pieces passes on what a frame has as it comes. What it passes is valid for the
// call.
func (s *stream) pieces(length int, to func([]byte)) error {
	for length > 0 {
		if _, err := s.in.Peek(1); err != nil {
			return err
		}
		b, _ := s.in.Peek(min(length, s.in.Buffered()))
		to(b)
		s.in.Discard(len(b))
		length -= len(b)
	}
	return nil
}

// send writes a frame.
func (s *stream) send(k kind, payload []byte) error {
	return s.write(append(appendHeader(make([]byte, 0, headerSize+len(payload)), k, len(payload)), payload...))
}

func (s *stream) sendJSON(k kind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > k.limit() {
		return fmt.Errorf("%d bytes to send: want %d at most", len(b), k.limit())
	}
	return s.send(k, b)
}

// write writes a whole frame.
func (s *stream) write(frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.conn.Write(frame)
	return s.why(err)
}

// beat lets the other end know that this one is there, until the stream ends.
func (s *stream) beat() {
	t := time.NewTicker(s.silence / (quarters + 1))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := s.send(kindBeat, nil); err != nil {
				s.end(err)
			}
		case <-s.ctx.Done():
			return
		}
	}
}

// unexpected is the error for a frame that makes no sense here.
func unexpected(k kind) error { return fmt.Errorf("frame of kind %d at the wrong time", k) }
