package member

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/golaunch/golaunch/launcher/internal/member/roster"
)

// push puts an event in the queue. It may be called with any lock held.
func (c *Cluster) push(e roster.Event) {
	c.queueing.Lock()
	c.queue = append(c.queue, e)
	c.queueing.Unlock()
	c.wakeUp()
}

func (c *Cluster) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Cluster) now() roster.Instant { return roster.Instant(time.Since(c.began)) }

// run is the main goroutine.
func (c *Cluster) run() {
	defer c.save()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.wake:
		case <-timer.C:
			c.push(roster.Tick{})
		case <-c.ctx.Done():
			return
		}
		c.take()
		c.chooseKey()
		if c.saveWait() == 0 {
			c.save()
		}
		timer.Reset(c.wait())
	}
}

// wait is how long until something is due.
func (c *Cluster) wait() time.Duration {
	c.mu.Lock()
	due, ok := c.roster.Deadline()
	c.mu.Unlock()
	wait := time.Hour
	if ok {
		wait = max(0, time.Duration(due-c.now()))
	}
	return min(wait, c.saveWait())
}

// take gives the roster the events of the queue, and does what it asks for.
func (c *Cluster) take() {
	c.queueing.Lock()
	events := c.queue
	c.queue = nil
	c.queueing.Unlock()
	for _, e := range events {
		c.mu.Lock()
		todo := c.roster.Handle(e, c.now())
		c.alive.Store(int64(c.roster.Alive()))
		if c.roster.Alive() > 1 {
			c.problem = nil
		}
		for _, a := range todo {
			if t, ok := a.(roster.Tell); ok {
				c.tell(t)
			}
		}
		c.mu.Unlock()
		c.carryOut(todo)
	}
}

// tell is called with mu held.
func (c *Cluster) tell(t roster.Tell) {
	e := Event{Change: t.Change, Member: c.member(t.Entry)}
	for w := range c.watchers {
		w.tell(e)
	}
	c.saved.dirty = true
	level := slog.LevelInfo
	if t.Change == Clashed {
		level = slog.LevelWarn
	}
	c.o.Log.Log(c.ctx, level, "member "+t.Change.String(), "name", t.Entry.Name, "addr", t.Entry.Addr)
	if e.Member.Problem != "" {
		c.o.Log.Warn("member cannot be used", "name", t.Entry.Name, "problem", e.Member.Problem)
	}
}

func (c *Cluster) carryOut(todo []roster.Action) {
	for _, a := range todo {
		switch a := a.(type) {
		case roster.Pass:
			c.notes.QueueBroadcast(note{text: encodeGoodbye(a.Goodbye)})
		case roster.Call:
			c.running.Go(func() { c.callAll(a.Addrs) })
		}
	}
}

// callAll calls addresses, all at once, and reports who has answered.
func (c *Cluster) callAll(addrs []string) {
	errs := make([]error, len(addrs))
	var calling sync.WaitGroup
	for i, a := range addrs {
		calling.Go(func() { errs[i] = c.call(a) })
	}
	calling.Wait()
	var done roster.Called
	for i, err := range errs {
		if err == nil {
			done.Answered = append(done.Answered, addrs[i])
		}
	}
	c.report(errors.Join(errs...))
	if len(done.Answered) == 0 {
		c.otherKey()
	}
	c.push(done)
}

// report keeps and logs why calls were in vain, once for each time that this changes.
func (c *Cluster) report(err error) {
	if c.ctx.Err() != nil {
		return
	}
	text := fmt.Sprint(err)
	c.mu.Lock()
	if err != nil && c.roster.Alive() <= 1 {
		c.problem = err
	}
	known := text == c.inVain
	c.inVain = text
	c.mu.Unlock()
	if err == nil || known {
		return
	}
	c.o.Log.Info("some members cannot be reached", "error", err)
}

// call exchanges everything known with whoever is at an address, which may stand for
// several.
func (c *Cluster) call(address string) error {
	addrs, err := resolve(c.ctx, address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	answered := false
	var errs []error
	for _, a := range addrs {
		if a == c.wire.addr {
			continue
		}
		if err := c.join(a); err != nil {
			errs = append(errs, err)
		} else {
			answered = true
		}
	}
	if answered {
		return nil
	}
	return errors.Join(errs...)
}

func (c *Cluster) join(a netip.AddrPort) error {
	_, err := c.list.Join([]string{a.String()})
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(strings.TrimPrefix(err.Error(), "1 error occurred:\n\t* "))
	text = strings.TrimPrefix(text, "failed to join "+a.String()+": ")
	return fmt.Errorf("%s: %s", a, text)
}
