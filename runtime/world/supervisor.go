package world

import (
	"context"
	"os"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/boot/bootstrap"
)

// A supervisor is who a rank answers to: golaunch's, over the inherited socket
// (launcher/boot), or the hub of an in-process world.
type supervisor interface {
	// Publish hands over the descriptor of one of this rank's memory segments.
	Publish(key uint64, f *os.File, size int64) error
	// Open returns a descriptor of a peer's segment, which the caller closes. It
	// waits until the peer has published it.
	Open(ctx context.Context, rank int, key uint64) (*os.File, error)
	// SetAddress tells the ranks of all hosts how they reach this one.
	SetAddress(address []byte) error
	// Pager returns a socket to the pager of this rank's host, which the caller closes.
	Pager(ctx context.Context, host int) (*os.File, error)
	// Report hands over figures for golaunch --stats.
	Report(figures []byte) error
	// Leave says goodbye: from now on this rank's exit is no failure.
	Leave() error
	// Abort asks for the end of the whole job with the given exit code.
	Abort(code int, reason string) error
	Close() error
}

// A session is a membership in a job of processes: golaunch's, or that of a process
// manager (launcher/boot/bootstrap). boot.Session says what its methods are.
type session interface {
	supervisor
	Rank() int
	Size() int
	Host() string
	HostNames() []string
	Job() string
	Secret() []byte
	Settings() boot.Settings
	JobMemory() *os.File
}

// connect joins the job that this process was started in; nil: it was started by
// nobody who would say so.
func connect(ctx context.Context) (session, error) {
	if s, err := boot.Connect(ctx); s != nil || err != nil {
		return s, err
	}
	if s, err := bootstrap.Connect(ctx); s != nil || err != nil {
		return s, err
	}
	return nil, nil
}
