package lines

import (
	"bytes"
	"slices"
	"time"
)

const (
	// PartialWait is how long a partial line may be held back.
	PartialWait = 100 * time.Millisecond
	// HoldMax is how long a partial line may hold up other streams.
	HoldMax = time.Second
	// LongLine is the length in bytes from which a line is shown before it is
	// complete. It is half of what may be under way in a stream.
	LongLine = 32 << 10
)

// Config of a Merger.
type Config struct {
	// Tag puts the rank, and the name of the stream if it is stderr, before every
	// line.
	Tag bool
	// Raw passes everything on as it comes. There must be one rank only.
	Raw bool
	// Shared says that stdout and stderr are the same device.
	Shared bool
}

// A Stream names one output of one rank.
type Stream struct {
	Rank   int
	Stderr bool
}

// A Piece is to be written to golaunch's stderr or stdout, after all earlier ones.
type Piece struct {
	Stream
	Data []byte
	// Bytes of the stream that are in Data; the rest are tags and newlines.
	Bytes int
}

// A Merger is the state of the merging. Times are durations since any fixed
// moment.
type Merger struct {
	Config
	streams map[Stream]*stream
	devices [2]device // of stdout and stderr; only the first if Shared
}

// A device is a place where text appears.
type device struct {
	owner   *stream // whose partial line is shown; nil: the next is a new line
	since   time.Duration
	pending []*stream // streams that hold something, the longest waiting first
}

// A stream is what is held of one.
type stream struct {
	Stream
	held   []byte
	since  time.Duration // when the first byte of the partial line came
	last   time.Duration // when the last byte came
	closed bool
}

// New returns an empty Merger.
func New(c Config) *Merger { return &Merger{Config: c, streams: map[Stream]*stream{}} }

// Write takes what a stream printed, and the slice with it.
func (m *Merger) Write(name Stream, data []byte, now time.Duration) []Piece {
	if len(data) == 0 {
		return nil
	}
	s := m.streams[name]
	if s == nil {
		s = &stream{Stream: name}
		m.streams[name] = s
	}
	d := m.device(name)
	if m.Raw {
		d.owner = nil
		if !lineIsEmpty(data) {
			d.owner = s
		}
		return []Piece{{name, data, len(data)}}
	}
	s.hold(data, now)
	if !slices.Contains(d.pending, s) {
		d.pending = append(d.pending, s)
	}
	return m.advance(d, nil, now)
}

// hold keeps data; it avoids the copy when nothing is held yet.
func (s *stream) hold(data []byte, now time.Duration) {
	if len(s.held) == 0 || bytes.IndexByte(data, '\n') >= 0 {
		s.since = now
	}
	s.last = now
	if len(s.held) == 0 {
		s.held = data
	} else {
		s.held = append(s.held, data...)
	}
}

// Close says that the stream ends. What is held of it will be written.
func (m *Merger) Close(name Stream, now time.Duration) []Piece {
	s := m.streams[name]
	if s == nil {
		return nil
	}
	s.closed = true
	delete(m.streams, name)
	return m.advance(m.device(name), nil, now)
}

// Tick returns what has become due. It is to be called at Deadline.
func (m *Merger) Tick(now time.Duration) (pieces []Piece) {
	for i := range m.devices {
		pieces = m.advance(&m.devices[i], pieces, now)
	}
	return pieces
}

// Deadline returns when Tick will have something to do; false: not before the
// next Write or Close.
func (m *Merger) Deadline(now time.Duration) (at time.Duration, ok bool) {
	for i := range m.devices {
		d := &m.devices[i]
		for _, s := range d.pending {
			due := s.since + PartialWait
			if d.owner != nil && d.owner != s && s.ready(now) { // the owner keeps it
				due = min(d.owner.last+PartialWait, d.since+HoldMax)
			}
			if !ok || due < at {
				at, ok = due, true
			}
		}
	}
	return at, ok
}

// Break ends the partial line that is shown on the device of stderr, or of stdout,
// if there is one: something else is about to be written there.
func (m *Merger) Break(stderr bool) []Piece {
	d := m.device(Stream{Stderr: stderr})
	if d.owner == nil {
		return nil
	}
	p := Piece{d.owner.Stream, []byte{'\n'}, 0}
	d.owner = nil
	return []Piece{p}
}

func (m *Merger) device(name Stream) *device {
	if name.Stderr && !m.Shared {
		return &m.devices[1]
	}
	return &m.devices[0]
}

// advance appends to pieces what d's streams may write now.
func (m *Merger) advance(d *device, pieces []Piece, now time.Duration) []Piece {
	for {
		s := d.next(now)
		if s == nil {
			return pieces
		}
		if d.owner != s {
			pieces = append(pieces, m.Break(s.Stderr)...)
		}
		pieces = append(pieces, m.emit(d, s, now))
	}
}

// next chooses who may write: the owner, as long as it has something to say and
// has not kept others for too long; then whoever has waited longest.
func (d *device) next(now time.Duration) *stream {
	var other *stream
	owner := false
	for _, s := range d.pending {
		switch {
		case !s.ready(now):
		case s == d.owner:
			owner = true
		case other == nil:
			other = s
		}
	}
	if d.owner == nil || other != nil && d.loses(now, owner) {
		return other
	}
	if owner {
		return d.owner
	}
	return nil
}

// loses reports whether the owner must give way to others; talking says that it
// could go on at once.
func (d *device) loses(now time.Duration, talking bool) bool {
	return now-d.since >= HoldMax || !talking && (d.owner.closed || now-d.owner.last >= PartialWait)
}

// ready reports whether the stream has something that may be shown.
func (s *stream) ready(now time.Duration) bool {
	return len(s.held) > 0 && (s.closed || now-s.since >= PartialWait || len(s.held) >= LongLine ||
		bytes.IndexByte(s.held, '\n') >= 0)
}

// emit takes out of s what may be shown: all, if its last line is due, or its
// complete lines.
func (m *Merger) emit(d *device, s *stream, now time.Duration) Piece {
	n := len(s.held)
	if end := bytes.LastIndexByte(s.held, '\n') + 1; end > 0 && !s.closed && now-s.since < PartialWait && n-end < LongLine {
		n = end
	}
	p := Piece{s.Stream, s.held[:n:n], n}
	if m.Tag {
		p.Data = tagged(s.Stream, p.Data, d.owner == s)
	}
	if s.held = slices.Clone(s.held[n:]); len(s.held) == 0 {
		s.held = nil // Clone would keep the array
	}
	if lineIsEmpty(p.Data) {
		d.owner = nil
	} else if d.owner != s {
		d.owner, d.since = s, now
	}
	d.requeue(s)
	return p
}

// lineIsEmpty reports whether the cursor stands on an empty line after data: the
// line before is complete, or was a progress line that has been erased.
func lineIsEmpty(data []byte) bool {
	return bytes.HasSuffix(data, []byte("\n")) || bytes.HasSuffix(data, []byte("\r\x1b[K"))
}

// requeue puts s at the end of the line, or out of it.
func (d *device) requeue(s *stream) {
	d.pending = slices.DeleteFunc(d.pending, func(p *stream) bool { return p == s })
	if len(s.held) > 0 {
		d.pending = append(d.pending, s)
	}
}
