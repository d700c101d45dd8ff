package fivehosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/golaunch/golaunch/collectives"
	"github.com/golaunch/golaunch/runtime/world"
)

// roles are what ranks of these tests do.
var roles = map[string]func() error{
	"meet":  meet,
	"hold":  hold,
	"learn": learn,
}

// meet has all ranks meet once, and each say when that was.
func meet() error {
	comm, err := gather()
	if err != nil {
		return err
	}
	fmt.Println("met", time.Now().UnixNano())
	return comm.Leave()
}

func gather() (*world.Comm, error) {
	ctx := context.Background()
	comm, err := world.Join(ctx)
	if err != nil {
		return nil, err
	}
	return comm, collectives.Barrier(ctx, comm)
}

// readied is gather, and says that it has succeeded.
func readied() (*world.Comm, error) {
	comm, err := gather()
	if err == nil {
		fmt.Println("ready", comm.Rank(), os.Getpid())
	}
	return comm, err
}

// hold has all ranks meet, and again when their stdin has ended.
func hold() error {
	comm, err := readied()
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := collectives.Barrier(context.Background(), comm); err != nil {
		return err
	}
	fmt.Println("met again")
	return comm.Leave()
}

// learn has all ranks but the last wait for that one, which never comes, and leave in
// a directory what they have learned.
func learn() error {
	comm, err := readied()
	if err != nil {
		return err
	}
	if comm.Rank() == comm.Size()-1 {
		select {}
	}
	err = collectives.Barrier(context.Background(), comm)
	return errors.Join(bequeath(comm.Rank(), err), comm.Leave())
}

// A bequest is what a rank says of its end.
type bequest struct {
	at     time.Time
	failed int    // the rank that its error names; -1: none
	host   string // of that rank, "" on the same host
	text   string
}

func bequeath(rank int, err error) error {
	b := bequest{at: time.Now(), failed: -1}
	var failed *world.RankFailedError
	if errors.As(err, &failed) {
		b.failed, b.host = failed.Rank, failed.Host
	}
	name := filepath.Join(os.Args[1], fmt.Sprint("rank-", rank))
	return os.WriteFile(name, fmt.Appendf(nil, "%d %d %q %v", b.at.UnixNano(), b.failed, b.host, err), 0o600)
}

// readBequest reads it.
func readBequest(dir string, rank int) (b bequest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("rank-", rank)))
	if err != nil {
		return b, err
	}
	var at int64
	if _, err := fmt.Sscanf(string(text), "%d %d %q", &at, &b.failed, &b.host); err != nil {
		return b, err
	}
	b.at, b.text = time.Unix(0, at), string(text)
	return b, nil
}
