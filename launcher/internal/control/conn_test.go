package control

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 20 * time.Second

func pair(t *testing.T) (*Conn, *Conn) {
	a, b := net.Pipe()
	x, y := NewConn(a), NewConn(b)
	t.Cleanup(func() { x.Close(); y.Close() })
	return x, y
}

func TestMessagesArriveInOrder(t *testing.T) {
	x, y := pair(t)
	for _, m := range samples() {
		x.Send(m)
	}
	for _, m := range samples() {
		got, err := y.Receive()
		if diff := cmp.Diff(m, got); diff != "" || err != nil {
			t.Fatalf("%v %s", err, diff)
		}
	}
	if err := x.Flush(); err != nil {
		t.Error(err)
	}
}

// The other end of a net.Pipe takes nothing until it reads.
func TestSendDoesNotWaitForTheReader(t *testing.T) {
	x, y := pair(t)
	sent := make(chan struct{})
	go func() {
		for range 100 {
			x.Send(&Output{Rank: 1, Stream: 1, Data: make([]byte, 1000)})
		}
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(deadline):
		t.Fatal("Send waits")
	}
	for range 100 {
		if _, err := y.Receive(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFlushWaitsForTheReader(t *testing.T) {
	x, y := pair(t)
	x.Send(&Kill{})
	flushed := make(chan error, 1)
	go func() { flushed <- x.Flush() }()
	select {
	case err := <-flushed:
		t.Fatalf("Flush returned %v before anybody read", err)
	default:
	}
	if _, err := y.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := <-flushed; err != nil {
		t.Error(err)
	}
}

func TestSendAfterTheOtherSideIsGone(t *testing.T) {
	x, y := pair(t)
	y.Close()
	x.Send(&Kill{})
	if err := x.Flush(); err == nil {
		t.Error("Flush to nobody succeeds")
	}
	x.Send(&Kill{})
	if _, err := x.Receive(); err != io.EOF {
		t.Errorf("Receive = %v, want EOF", err)
	}
}

func TestReceiveRefusesBadFrames(t *testing.T) {
	for name, tt := range map[string]struct {
		stream []byte
		want   error
	}{
		"empty frame":    {[]byte{0, 0, 0, 0}, nil},
		"enormous frame": {[]byte{255, 255, 255, 255, 1}, nil},
		"cut length":     {[]byte{1, 0}, io.ErrUnexpectedEOF},
		"cut frame":      {[]byte{200, 255, 0, 0, 1}, io.ErrUnexpectedEOF},
		"no frame":       {nil, io.EOF},
		"unknown kind":   {[]byte{1, 0, 0, 0, 99}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewConn(discard{bytes.NewReader(tt.stream)})
			defer c.Close()
			m, err := c.Receive()
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Receive = %v, %v, want %v", m, err, tt.want)
			}
		})
	}
}

type discard struct{ io.Reader }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func TestLongFrame(t *testing.T) {
	x, y := pair(t)
	want := bytes.Repeat([]byte("0123456789"), 50_000)
	x.Send(&Stdin{Data: want})
	got, err := y.Receive()
	if err != nil || !bytes.Equal(got.(*Stdin).Data, want) {
		t.Errorf("%v, %d bytes", err, len(got.(*Stdin).Data))
	}
}

// A prompt stream has what was sent when Send returns.
func TestPromptConn(t *testing.T) {
	var written kept
	c := NewPromptConn(&written)
	defer c.Close()
	want := Frame(&Kill{})
	c.Send(&Kill{})
	if !bytes.Equal(written.Bytes(), want) {
		t.Errorf("% x was written, want % x", written.Bytes(), want)
	}
	if err := c.Flush(); err != errKept {
		t.Errorf("Flush = %v", err)
	}
	if m, err := c.Receive(); err != nil || m.kind() != kindKill {
		t.Errorf("Receive = %v, %v", m, err)
	}
	written.broken = true
	c.Send(&Kill{})
	c.Send(&Kill{})
	if written.Len() != 0 {
		t.Error("something is written after an error")
	}
}

var errKept = errors.New("kept")

type kept struct {
	bytes.Buffer
	broken bool
}

func (k *kept) Write(b []byte) (int, error) {
	if k.broken {
		return 0, errKept
	}
	return k.Buffer.Write(b)
}

func (k *kept) Flush() error { return errKept }
func (k *kept) Close() error { return nil }
