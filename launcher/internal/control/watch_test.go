package control

import (
	"errors"
	"testing"
	"time"
)

// received returns what Receive says first.
func received(c *Conn) chan error {
	got := make(chan error, 1)
	go func() {
		_, err := c.Receive()
		got <- err
	}()
	return got
}

// silent waits for the verdict that the other side is.
func silent(t *testing.T, got chan error) {
	t.Helper()
	select {
	case err := <-got:
		var e *SilentError
		if !errors.As(err, &e) {
			t.Errorf("Receive = %v, want that nothing was heard", err)
		}
	case <-time.After(deadline):
		t.Fatal("the silence is not noticed")
	}
}

func TestBeatsKeepTheConnection(t *testing.T) {
	x, y := pair(t)
	atX, atY := received(x), received(y)
	x.Watch(50 * time.Millisecond)
	y.Watch(50 * time.Millisecond)
	select {
	case err := <-atX:
		t.Fatal(err)
	case err := <-atY:
		t.Fatal(err)
	case <-time.After(300 * time.Millisecond):
	}
	y.Pause() // it is stopped
	silent(t, atX)
}

func TestSilenceBreaksTheConnection(t *testing.T) {
	x, _ := pair(t)
	got := received(x)
	x.Watch(20 * time.Millisecond)
	silent(t, got)
	if err := x.Flush(); err == nil {
		t.Error("something can still be sent")
	}
}

func TestPausedConnectionMindsNoSilence(t *testing.T) {
	x, y := pair(t)
	got := received(x)
	x.Pause()
	x.Watch(20 * time.Millisecond)
	select {
	case err := <-got:
		t.Fatal(err)
	case <-time.After(200 * time.Millisecond):
	}
	y.Watch(time.Hour)
	x.Resume()
	silent(t, got)
}

// Hello and Refused are the same for ever.
func TestFrozenFrames(t *testing.T) {
	for _, tt := range []struct {
		m    Message
		want string
	}{
		{&Hello{Protocol: 2, Version: "v", Host: "h", PID: 3},
			"\x1b\x00\x00\x00\x01\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00v\x01\x00\x00\x00h\x03\x00\x00\x00\x00\x00\x00\x00"},
		{&Refused{Text: "no"}, "\x07\x00\x00\x00\x1d\x02\x00\x00\x00no"},
	} {
		if got := string(appendFrame(nil, tt.m)); got != tt.want {
			t.Errorf("%T: %q, want %q", tt.m, got, tt.want)
		}
	}
}
