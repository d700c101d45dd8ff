package packet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golaunch/golaunch/runtime/group"
	"github.com/golaunch/golaunch/runtime/job"
)

// How an error that travels begins.
const (
	plain      = iota // the text
	rankFailed        // rank, host, cause
	broken            // rank, what, operation, cause, and 1 and the rank that failed, or 0
)

// EncodeError appends err to dst, at most MaxData bytes, so that errors.As finds at the
// other end what it finds here: a *job.RankFailedError, or a *group.BrokenError.
func EncodeError(dst []byte, err error) []byte {
	var whole *group.BrokenError
	var failed *job.RankFailedError
	w := writer{dst}
	switch {
	case errors.As(err, &whole):
		w.byte(broken)
		w.number(whole.Rank)
		w.text(whole.What)
		w.text(whole.Op)
		w.text(whole.Cause)
		if whole.Failed == nil {
			w.byte(0)
			break
		}
		w.byte(1)
		w.failure(whole.Failed)
	case errors.As(err, &failed):
		w.byte(rankFailed)
		w.failure(failed)
	default:
		w.byte(plain)
		w.text(err.Error())
	}
	return w.dst
}

// DecodeError is the inverse. Whatever src is, the result is an error.
func DecodeError(src []byte) error {
	r := reader{src: src}
	var err error
	switch r.byte() {
	case plain:
		err = errors.New(r.text())
	case rankFailed:
		err = r.failure()
	case broken:
		whole := &group.BrokenError{Rank: r.number(), What: r.text(), Op: r.text(), Cause: r.text()}
		if r.byte() == 1 {
			whole.Failed = r.failure()
		}
		err = whole
	default:
		r.short = true
	}
	if r.short {
		return fmt.Errorf("an error that cannot be read: % x", src[:min(len(src), 64)])
	}
	return err
}

// maxText is how long a text is at most; longer ones are cut off. An error has at most
// five.
const maxText = 800

type writer struct{ dst []byte }

func (w *writer) byte(b byte) { w.dst = append(w.dst, b) }

func (w *writer) number(n int) { w.dst = binary.LittleEndian.AppendUint32(w.dst, uint32(n)) }

func (w *writer) text(s string) {
	s = s[:min(len(s), maxText)]
	w.dst = binary.LittleEndian.AppendUint16(w.dst, uint16(len(s)))
	w.dst = append(w.dst, s...)
}

func (w *writer) failure(e *job.RankFailedError) {
	w.number(e.Rank)
	w.text(e.Host)
	w.text(e.Cause)
}

// A reader reads zeros and empty texts where src ends too early.
type reader struct {
	src   []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.src) {
		r.short = true
		return nil
	}
	b := r.src[:n]
	r.src = r.src[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) number() int {
	if b := r.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) text() string {
	if b := r.take(2); b != nil {
		return string(r.take(int(binary.LittleEndian.Uint16(b))))
	}
	return ""
}

func (r *reader) failure() *job.RankFailedError {
	return &job.RankFailedError{Rank: r.number(), Host: r.text(), Cause: r.text()}
}
