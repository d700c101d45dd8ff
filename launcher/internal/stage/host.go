package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Host is one that is sent to, under an address that means something to a Dialer.
type Host struct {
	Name string `json:"name"`
	Addr string `json:"addr,omitempty"`
}

// What a host's name and address may have, in bytes.
const (
	maxName = 255
	maxAddr = 1024
)

func (h Host) check() error {
	if h.Name == "" || len(h.Name) > maxName || len(h.Addr) > maxAddr {
		return fmt.Errorf("host %.40q: want a name of 1 to %d bytes, and at most %d of address", h.Name, maxName, maxAddr)
	}
	return nil
}

// A Dialer opens a stream to the Node at a host. The stream's Close must end a Read
// and a Write that wait. Hosts dial the addresses that the sender gives them: a
// Dialer checks who is there.
type Dialer interface {
	Dial(ctx context.Context, to Host) (io.ReadWriteCloser, error)
}

// Options are times and a rate. Zero is each one's default.
type Options struct {
	// Silence is how long nothing may arrive before a connection is lost: 10 s.
	// Both ends send something five times in that time.
	Silence time.Duration
	// DialWait is how long connecting may take: 5 s.
	DialWait time.Duration
	// Patience is how long after the time in which others got everything a host is
	// taken for slow, and nobody waits behind it any more: 2 s.
	Patience time.Duration
	// Slowest is the rate, in bytes per second, at which nobody is taken for slow
	// before some host has got everything: 2e6.
	Slowest float64
	// Orphan is how long a host keeps the beginning of a blob that nobody sends any
	// more: 15 s.
	Orphan time.Duration
	// Keep is how long a blob that has arrived is kept from being evicted, for the job
	// that needs it to take a lease: 60 s.
	Keep time.Duration
}

func (o Options) withDefaults() Options {
	for _, t := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.Silence, 10 * time.Second}, {&o.DialWait, 5 * time.Second}, {&o.Patience, 2 * time.Second},
		{&o.Orphan, 15 * time.Second}, {&o.Keep, time.Minute},
	} {
		if *t.field == 0 {
			*t.field = t.value
		}
	}
	if o.Slowest == 0 {
		o.Slowest = 2e6
	}
	return o
}

var (
	errOver     = errors.New("the transfer is over")
	errClosed   = errors.New("the connection was closed")
	errReplaced = errors.New("the sender has begun anew")
	errBusy     = fmt.Errorf("%d transfers are under way already", maxDeliveries)
	errStopping = errors.New("the host's agent ends")
)
