package stage

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// A supply is a blob, of which more and more is there.
type supply interface {
	// await waits until there are more than have bytes, and returns how many.
	await(ctx context.Context, have int64) (int64, error)
}

// A courier carries out an order at its first host: the sender's side of a session.
type courier struct {
	dialer  Dialer
	options Options
	order   order
	// supply waits until there is something of a blob, by its position in the order.
	supply func(ctx context.Context, blob int) (supply, io.ReaderAt, error)
	// report is told of what the host reports, one at a time.
	report func(report)

	sent atomic.Int64 // bytes of blobs, also those that are being written
}

// run returns when the host has reported all there is, with nil, or when something
// has gone wrong.
func (c *courier) run(ctx context.Context) error {
	to := c.order.Hosts[0]
	conn, err := c.dial(ctx, to)
	if err != nil {
		return fmt.Errorf("cannot reach %s at %s: %w", to.Name, to.Addr, err)
	}
	s := newStream(ctx, conn, c.options.Silence)
	defer s.close()
	if err := c.serve(s); err != nil {
		return fmt.Errorf("lost the connection to %s: %w", to.Name, err)
	}
	return nil
}

func (c *courier) dial(ctx context.Context, to Host) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.options.DialWait, fmt.Errorf("no answer for %v", c.options.DialWait))
	defer cancel()
	conn, err := c.dialer.Dial(ctx, to)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return conn, err
}

func (c *courier) serve(s *stream) error {
	if err := s.sendJSON(kindOrder, &c.order); err != nil {
		return err
	}
	wants := make(chan want, 2*len(c.order.Blobs)) // each once, and once more if it was wrong
	var others sync.WaitGroup
	others.Go(s.beat)
	others.Go(func() {
		if err := c.deliver(s, wants); err != nil {
			s.end(err)
		}
	})
	err := c.listen(s, wants)
	s.end(errOver)
	others.Wait()
	return err
}

// listen hears what the host wants and reports.
func (c *courier) listen(s *stream, wants chan<- want) error {
	for {
		k, length, err := s.next()
		if err != nil || k == kindEnd {
			return err
		}
		b, err := s.payload(length)
		if err != nil {
			return err
		}
		if err := c.hear(k, b, wants); err != nil {
			return err
		}
	}
}

func (c *courier) hear(k kind, b []byte, wants chan<- want) error {
	switch k {
	case kindWant:
		w, err := parseWant(b)
		if err != nil {
			return err
		}
		select {
		case wants <- w:
			return nil
		default:
			return fmt.Errorf("it wants blob %d, and too much altogether", w.blob)
		}
	case kindReport:
		r, err := parseReport(b)
		if err == nil {
			c.report(r)
		}
		return err
	}
	return unexpected(k)
}

// dataStart is where the bytes of the blob stand in a frame of data.
const dataStart = headerSize + offsetSize

// deliver sends what is wanted, until the stream ends.
func (c *courier) deliver(s *stream, wants <-chan want) error {
	frame := make([]byte, dataStart+maxData)
	for {
		select {
		case w := <-wants:
			if err := c.deliverOne(s, w, frame); err != nil {
				return err
			}
		case <-s.ctx.Done():
			return nil
		}
	}
}

func (c *courier) deliverOne(s *stream, w want, frame []byte) error {
	if w.blob >= len(c.order.Blobs) || w.offset < 0 || w.offset > c.order.Blobs[w.blob].Size {
		return fmt.Errorf("it wants blob %d from byte %d on: there is no such thing", w.blob, w.offset)
	}
	from, content, err := c.supply(s.ctx, w.blob)
	if err != nil {
		return err
	}
	size := c.order.Blobs[w.blob].Size
	for at := w.offset; at < size; {
		there, err := from.await(s.ctx, at)
		if err != nil {
			return err
		}
		n := int(min(there-at, maxData))
		binary.BigEndian.AppendUint64(appendHeader(frame[:0], kindData, offsetSize+n), uint64(at))
		if got, err := content.ReadAt(frame[dataStart:dataStart+n], at); got < n {
			return fmt.Errorf("reading byte %d: %w", at+int64(got), err)
		}
		c.sent.Add(int64(n)) // before the host can report that it has all
		if err := s.write(frame[:dataStart+n]); err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}
