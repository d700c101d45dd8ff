package bootstrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/golaunch/golaunch/launcher/boot"
	"github.com/golaunch/golaunch/launcher/boot/helper"
	"github.com/golaunch/golaunch/launcher/boot/pmi"
)

// Claimed reports whether the environment says that a process manager has started
// this process.
func Claimed() bool { return pmi.Claimed() }

// A Session is a rank's membership in a job that a process manager has started.
// What it does not do otherwise is as under golaunch.
type Session struct {
	*boot.Session
	manager *pmi.Conn
	where   *arrangement
	keep    *helper.Keep // nil unless this rank has started the helper
}

// Connect joins the job of the process manager that has started this process;
// (nil, nil) when none has. It waits until every rank has called it.
func Connect(ctx context.Context) (*Session, error) {
	manager, err := pmi.Open(ctx)
	if manager == nil || err != nil {
		return nil, err
	}
	s, err := join(ctx, manager)
	if err != nil {
		return nil, errors.Join(err, manager.Close())
	}
	return s, nil
}

func join(ctx context.Context, manager *pmi.Conn) (*Session, error) {
	where, err := exchange(ctx, manager)
	if err != nil {
		return nil, err
	}
	s := &Session{manager: manager, where: where}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.keep.Release())
	}
	return s, nil
}

// connect connects to the helper when it listens; the host's first rank starts it,
// and tells all whether it does.
func (s *Session) connect(ctx context.Context) (err error) {
	rank := s.manager.Rank()
	host := s.where.hosts[rank]
	if s.where.isFirst(rank) {
		word := listening
		if s.keep, err = helper.Start(ctx, s.where.job(host)); err != nil {
			word = err.Error()
		}
		if err := s.manager.Put(ctx, key("helper", host), []byte(word)); err != nil {
			return err
		}
	}
	if err := s.meet(ctx); err != nil {
		return err
	}
	s.Session, err = helper.Dial(ctx, s.where.details().Secret, host, rank)
	return err
}

// listening is the word of a helper's starter that all is well.
const listening = "listening"

// meet waits until every host has a helper. A fence alone does not wait for the
// others in every PMI-2 (hydra's): to get what they have put before theirs does.
func (s *Session) meet(ctx context.Context) error {
	if err := s.manager.Fence(ctx); err != nil {
		return err
	}
	for host, name := range s.where.names {
		word, err := s.manager.Get(ctx, key("helper", host))
		if err != nil {
			return err
		}
		if string(word) != listening {
			return fmt.Errorf("rank %d (%s): %s", s.where.first[host], name, word)
		}
	}
	return nil
}

// exchange shows every rank's card to all.
func exchange(ctx context.Context, manager *pmi.Conn) (*arrangement, error) {
	text, err := json.Marshal(ownCard(manager.Rank()))
	if err != nil {
		return nil, err
	}
	if err := manager.Put(ctx, key("card", manager.Rank()), text); err != nil {
		return nil, err
	}
	if err := manager.Fence(ctx); err != nil {
		return nil, err
	}
	cards := make([]card, manager.Size())
	for rank := range cards {
		text, err := manager.Get(ctx, key("card", rank))
		if err != nil {
			return nil, err
		}
		if cards[rank], err = parseCard(text, rank); err != nil {
			return nil, fmt.Errorf("rank %d: %w", manager.Rank(), err)
		}
	}
	where, err := arrange(cards)
	if err != nil {
		leaveTogether(ctx, manager)
	}
	return where, err
}

// togetherWait bounds how long a rank that cannot join waits for the others to find so.
const togetherWait = time.Second

// leaveTogether waits until all have found that they cannot join, as all of one
// version do. Were one to end while another still asks, hydra could break off, and
// what they have said be lost.
func leaveTogether(ctx context.Context, manager *pmi.Conn) {
	ctx, cancel := context.WithTimeout(ctx, togetherWait)
	defer cancel()
	_ = manager.Fence(ctx) // or not: the error is another
}

func key(of string, rank int) string { return fmt.Sprintf("golaunch-%s-%d", of, rank) }

// addressWait bounds how long SetAddress waits for the ranks, all of which have
// connected a moment ago.
const addressWait = time.Minute

// SetAddress tells every rank how this one is reached, and is collective: when it
// returns, the addresses of all are being written into the memory of this host.
func (s *Session) SetAddress(address []byte) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), addressWait, fmt.Errorf("not all ranks have announced themselves after %v", addressWait))
	defer cancel()
	if s.where.several() {
		if err := s.manager.Put(ctx, key("address", s.Rank()), address); err != nil {
			return err
		}
		if err := s.manager.Fence(ctx); err != nil {
			return err
		}
	}
	if err := s.Session.SetAddress(address); err != nil {
		return err
	}
	if s.where.isFirst(s.Rank()) {
		return s.learn(ctx)
	}
	return nil
}

// learn gives the helper the addresses of ranks elsewhere.
func (s *Session) learn(ctx context.Context) error {
	for rank, host := range s.where.hosts {
		if host == s.where.hosts[s.Rank()] {
			continue
		}
		address, err := s.manager.Get(ctx, key("address", rank))
		if err != nil {
			return err
		}
		if err := s.SetAddressOf(rank, address); err != nil {
			return err
		}
	}
	return nil
}

// Leave says goodbye, to the process manager, too.
func (s *Session) Leave() error {
	return errors.Join(s.Session.Leave(), s.manager.Finalize())
}

// Abort asks the process manager for the end of the job. Where it speaks PMI-1 it
// exits with code. reason is shown by those that show such things.
func (s *Session) Abort(code int, reason string) error { return s.manager.Abort(code, reason) }

// Close ends the session. Without Leave before it, the rank has failed.
func (s *Session) Close() error {
	return errors.Join(s.Session.Close(), s.manager.Close(), s.keep.Release())
}
